// The relay that a part attacks: how it is started, what it must not do, and what it may use.
import { Database } from 'bun:sqlite'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { limits, rates } from '@sotto/protocol'
import type { TestEngine } from '../packages/relay/test/engines.ts'
import { type RelayProcess, startRelay } from '../packages/relay/test/relay-process.ts'
import { errorLines } from '../packages/relay/test/use-relay.ts'
import { message, wireFriends } from '../packages/relay/test/wire.ts'
import { Finding, type Inputs } from './inputs.ts'
import type { Figures } from './part.ts'

/** A share of the time in which the relay takes the memory and the connections that it keeps. */
const WARM_UP = 0.2
const MOST_MS = 60_000

/** How much more a relay may use after an attack than after the first fifth of it. */
const MORE = { memoryShare: 1.5, memoryMib: 160, descriptors: 4, timers: 40 }

// Every rate is in force, but so high that the inputs get past it. The rate of challenges must fit the
// number of open ones.
const RAISED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.values(rates).map(({ setting }) => [setting, '1000000000/1'])),
  RATE_LIMITS: 'on',
  RATE_POW: '40000/30',
  LIMIT_POW_OPEN: '100000',
  LIMIT_POW_SECONDS: '30',
  LIMIT_ADDRESS_CONNECTIONS: '10000',
  LIMIT_BAD_FRAMES: `${limits.badFrames.max}`,
  LIMIT_SENT_IDS_PER_DAY: `${limits.sentIdsPerDay.max}`,
  LIMIT_CHANNEL_SEATS: '50',
  LIMIT_PENDING_ORDERS: '50',
  DATABASE_CONNECTIONS: '4',
  LOG_LEVEL: 'error',
}

/** A relay under attack. */
export interface Target {
  readonly relay: RelayProcess
  readonly url: string
  readonly port: number
}

/**
 * Attacks a relay of its own, twice: for a short time, after which its use is measured, and for the rest.
 * @param attack makes inputs until their time is over; all its clients have left when it resolves
 * @throws Finding, or what `attack` throws
 */
export async function attackRelay(
  inputs: Inputs,
  { engine, settings = {} }: { engine: TestEngine; settings?: Readonly<Record<string, string>> },
  attack: (target: Target) => Promise<void>,
): Promise<Figures> {
  const relay = await startRelay({ env: { ...RAISED, ...settings, ...(await engine.environment()) } })
  const ended = (): void => void process.kill(relay.pid, 'SIGKILL')
  process.once('exit', ended)
  const target = { relay, url: relay.url, port: Number(new URL(relay.url).port) }
  inputs.watch = () => expectNoErrors(relay)
  try {
    await expectExchange(target)
    inputs.spend(WARM_UP)
    await attack(target)
    const before = await useOf(relay)
    inputs.spend(1 - WARM_UP)
    await attack(target)
    const after = await useOf(relay, before.descriptors + MORE.descriptors)
    await expectExchange(target)
    expectNoErrors(relay)
    expectBounded(before, after)
    const code = await relay.kill('SIGTERM')
    if (code !== 0) throw new Finding(`the relay stopped with ${code}: ${relay.errors().slice(-2000)}`)
    expectNoErrors(relay)
    if (engine.name === 'SQLite') expectSound(relay.dataDir)
    return {
      memoryMib: [before.memoryMib, after.memoryMib],
      descriptors: [before.descriptors, after.descriptors],
      timers: [before.timers, after.timers],
    }
  } catch (error) {
    const log = relay.errors().slice(0, 4000)
    if (log !== '' && error instanceof Error) error.message += `\nThe relay's log: ${log}`
    throw error
  } finally {
    process.off('exit', ended)
    await relay.stop()
  }
}

function expectNoErrors(relay: RelayProcess): void {
  if (relay.errors() === '') return
  const [line] = errorLines(relay.errors())
  if (line) throw new Finding('the relay logged an error')
}

interface Use {
  readonly memoryMib: number
  readonly descriptors: number
  readonly timers: number
}

/** What the relay uses once its clients have left. @param most waits until it has no more descriptors */
async function useOf(relay: RelayProcess, most = Number.POSITIVE_INFINITY): Promise<Use> {
  for (const late = performance.now() + MOST_MS; ; await Bun.sleep(50)) {
    const descriptors = ownDescriptors(relay)
    if (descriptors <= most)
      return { memoryMib: await relay.memoryMiB(), timers: await relay.timers(), descriptors }
    if (performance.now() > late)
      throw new Finding(`the relay keeps ${descriptors} descriptors instead of ${most}: ${kindsOf(relay)}`)
  }
}

/** The relay's open descriptors, without one for each client that is still connected. */
function ownDescriptors({ pid, url }: RelayProcess): number {
  const open = readdirSync(`/proc/${pid}/fd`).length
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0')
  // proc_net_tcp(5): the remote address of an established (01) connection is the relay's.
  const clients = new RegExp(`^ *\\d+: \\S+ [0-9A-F]+:${port} 01 `, 'gm')
  return open - (readFileSync('/proc/net/tcp', 'utf8').match(clients)?.length ?? 0)
}

/** The kinds of a process's descriptors with their counts. */
function kindsOf({ pid }: RelayProcess): string {
  const kinds = new Map<string, number>()
  for (const descriptor of readdirSync(`/proc/${pid}/fd`)) {
    const kind = readlinkSync(`/proc/${pid}/fd/${descriptor}`).replace(/\d+/g, '')
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  }
  return [...kinds].map(([kind, count]) => `${count} ${kind}`).join(', ')
}

function expectBounded(before: Use, after: Use): void {
  const mostMib = before.memoryMib * MORE.memoryShare + MORE.memoryMib
  if (after.memoryMib > mostMib)
    throw new Finding(`the relay's memory grew from ${before.memoryMib} to ${after.memoryMib} MiB`)
  if (after.timers > before.timers + MORE.timers)
    throw new Finding(`the relay's timers grew from ${before.timers} to ${after.timers}`)
}

/** Two new accounts become friends, and a message arrives and is confirmed. */
async function expectExchange({ url }: Target): Promise<void> {
  const { alice, bob, conv } = await wireFriends(url)
  const [{ socket: from }, { socket: to }] = [await alice.online(), await bob.online()]
  const sent = message(bob.alias, conv, 'still there')
  from.send(sent)
  const { seq } = await from.next('ack')
  const { id } = await to.next('msg')
  if (id !== sent.id) throw new Finding('another message arrived than the one that was sent')
  to.send({ type: 'delivered', conv_id: conv, seq, to: alice.alias })
  await from.next('delivered')
  await Promise.all([from.close(), to.close()])
  for (const account of [alice, bob]) await account.bare('DELETE', '/me')
}

function expectSound(folder: string): void {
  using database = new Database(join(folder, 'sotto.db'), { readonly: true })
  const found = database.query<{ integrity_check: string }, []>('PRAGMA integrity_check').all()
  const foreign = database.query('PRAGMA foreign_key_check').all()
  if (found.length !== 1 || found[0]?.integrity_check !== 'ok' || foreign.length > 0)
    throw new Finding(`the store is not sound: ${JSON.stringify([found, foreign]).slice(0, 1000)}`)
}
