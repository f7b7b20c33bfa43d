// `npm run bench -- abuse`: what bystanders see before, during and after each attack that one stranger can
// make, at the rates that a relay allows by default. The floor gets the same load.
import { join } from 'node:path'
import { mountSmallDisk, type SmallDisk } from '@sotto/relay/testing/small-disk'
import { befriend, WireAccount } from '@sotto/relay/testing/wire'
import type { Attack, Cast } from './abuse/attack.ts'
import { attackNamed, attacks } from './abuse/attacks.ts'
import { Bystanders, type Line } from './abuse/bystander.ts'
import { type AllPhases, type Phases, rowOf } from './abuse/rows.ts'
import type { Report, Scene } from './abuse/scene.ts'
import type { Bench } from './bench.ts'
import { makeAccounts } from './load/accounts.ts'
import { cpuMs } from './measure.ts'
import { type MeasuredServer, startFloor, startMeasuredRelay } from './server-process.ts'

const PAIRS = 4
const WARM_UP_SECONDS = 0.5
/** The load lets the bystanders run first. */
const NICENESS = 10

/** Where an attack happens, and who is there. */
interface Place {
  readonly scene: Scene
  readonly lines: readonly Line[]
}

export const abuse: Bench = {
  means: 'what bystanders see of each attack by one stranger (--only <attack,…>)',
  defaultSeconds: 3,
  run: async ({ seconds, only }) => {
    const chosen = only.length > 0 ? only.map(attackNamed) : attacks
    const rows: Record<string, string | number>[] = []
    for (const attack of chosen) {
      if (attack.diskMib !== undefined && process.getuid?.() !== 0) {
        console.log(`LEFT OUT: ${attack.name} mounts a disk, which needs root`)
        continue
      }
      rows.push(await measure(attack, seconds))
      console.log(JSON.stringify(rows.at(-1)))
    }
    return { settings: { pairs: PAIRS, seconds }, rows }
  },
}

async function measure(attack: Attack, seconds: number): Promise<Record<string, string | number>> {
  const disk = attack.diskMib === undefined ? undefined : await mountSmallDisk(attack.diskMib)
  try {
    const { relay, lines, scene } = await prepare(attack, seconds, disk)
    const ours = await attackRelay(attack, relay, { scene, lines })
    await relay.stop()
    const floor = await startFloor()
    const sameScene = onFloor(scene, floor, ours.report)
    const bare = await attackFloor(attack, floor, { scene: sameScene, lines: linesOnFloor(lines, floor) })
    await floor.stop()
    return rowOf(attack.name, ours, bare)
  } finally {
    await disk?.remove()
  }
}

/**
 * Starts a relay, first without rates: the bystanders and the attacker register, become friends, and the
 * attack is prepared. Then the relay starts again with its default settings.
 */
async function prepare(attack: Attack, seconds: number, disk: SmallDisk | undefined) {
  const settings = { LOG_LEVEL: 'error', ...attack.settings, ...(disk ? { DATA_DIR: disk.folder } : {}) }
  const relay = await startMeasuredRelay(settings, undefined, attack.descriptors)
  const strangers = await makeAccounts(relay.url, attack.strangers ?? 1)
  const people = await makeAccounts(relay.url, PAIRS * 2)
  const cast: Cast = { strangers, bystanders: people.slice(PAIRS) }
  const lines: Line[] = []
  for (const [index, to] of cast.bystanders.entries()) {
    const from = people[index] ?? new WireAccount(relay.url)
    const conv = await befriend(from, to)
    lines.push({
      ...{ fromUrl: socketOf(from), toUrl: socketOf(to), conv },
      ...{ fromAlias: from.alias, toAlias: to.alias },
    })
  }
  const scene: Scene = {
    ...{ url: relay.url, isFloor: false, seconds, answerBytes: 0 },
    folder: disk?.folder ?? relay.folder,
    strangers: strangers.map(({ uuid, alias, token }) => ({ uuid, alias, token })),
    bystanders: cast.bystanders.map(({ alias }) => alias),
    things: (await attack.prepare?.(cast)) ?? [],
  }
  await relay.between(() => attack.fill?.(scene), { PORT: '0', ...settings })
  return { relay, lines, scene }
}

function socketOf({ base, uuid, token }: WireAccount): string {
  return `${base}/ws?user_uuid=${uuid}&token=${token}`
}

/** The same on the floor, which answers with as many bytes as the relay did. */
function onFloor(scene: Scene, floor: MeasuredServer, { receivedBytes, statuses }: Report): Scene {
  const answers = Object.values(statuses).reduce((sum, count) => sum + count, 0)
  const answerBytes = answers === 0 ? 2 : Math.max(2, Math.round(receivedBytes / answers))
  return { ...scene, url: floor.url, folder: floor.folder, isFloor: true, answerBytes }
}

function linesOnFloor(lines: readonly Line[], floor: MeasuredServer): Line[] {
  const socket = (alias: string): string => `${floor.url}/ws?user_uuid=${alias}`
  return lines.map((line) => ({
    ...line,
    fromUrl: socket(line.fromAlias),
    toUrl: socket(line.toAlias),
  }))
}

async function attackRelay(
  attack: Attack,
  relay: MeasuredServer,
  { scene, lines }: Place,
): Promise<AllPhases> {
  const bystanders = await Bystanders.connect(lines)
  const phases = await attackServer(attack, { scene, pid: relay.pid }, bystanders)
  const after = await bystanders.measure(scene.seconds)
  bystanders.close()
  return { ...phases, after }
}

async function attackFloor(attack: Attack, floor: MeasuredServer, { scene, lines }: Place): Promise<Phases> {
  const bystanders = await Bystanders.connect(lines)
  const phases = await attackServer(attack, { scene, pid: floor.pid }, bystanders)
  bystanders.close()
  return phases
}

async function attackServer(
  attack: Attack,
  { scene, pid }: { scene: Scene; pid: number },
  bystanders: Bystanders,
): Promise<Phases> {
  const attacker = startAttacker(attack, scene)
  await attacker.armed
  await bystanders.measure(WARM_UP_SECONDS)
  const before = await bystanders.measure(scene.seconds)
  const attacking = attacker.attack()
  const start = { at: performance.now(), cpu: cpuMs(pid) }
  const during = await bystanders.measure(scene.seconds)
  const busy = (cpuMs(pid) - start.cpu) / (performance.now() - start.at)
  const report = await attacking
  await attacker.end()
  return { before, during, report, busy }
}

/** Starts the process of an attack. */
function startAttacker(attack: Attack, scene: Scene) {
  const armed = Promise.withResolvers<void>()
  const reported = Promise.withResolvers<Report>()
  const main = join(import.meta.dir, 'abuse', 'attack-process.ts')
  const child = Bun.spawn(['nice', '-n', String(NICENESS), process.execPath, main, attack.name], {
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc: (message) => (message === 'armed' ? armed.resolve() : reported.resolve(message)),
    onExit: () => {
      const failure = new Error(`the process of ${attack.name} ended early`)
      armed.reject(failure)
      reported.reject(failure)
    },
  })
  process.once('exit', () => child.kill('SIGKILL'))
  reported.promise.catch(() => undefined) // It may end before anybody waits for it.
  child.send(scene)
  return {
    armed: armed.promise,
    attack: (): Promise<Report> => {
      child.send('begin')
      return reported.promise
    },
    end: async (): Promise<void> => {
      child.disconnect()
      await child.exited
    },
  }
}
