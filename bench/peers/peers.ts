// `npm run bench -- peers`: the same exchange on Sotto, on servers from Debian's packages and on the floor.
// It installs packages only if the user agrees. Servers that are not installed are left out and listed.
import type { Bench } from '../bench.ts'
import { median, percentile } from '../measure.ts'
import { type DriveResult, drive } from './driver.ts'
import { ejabberd } from './ejabberd.ts'
import { mosquitto } from './mosquitto.ts'
import { nats } from './nats.ts'
import { floor, sotto } from './own.ts'
import { offerPackages } from './packages.ts'
import type { Peer } from './peer.ts'
import { prosody } from './prosody.ts'

const PAIRS = 50
const WINDOW = 20
const PAYLOAD_BYTES = 400
const ROUNDS = 3
const WARM_UP_SECONDS = 2

const all: readonly Peer[] = [floor, ...sotto, ...mosquitto, ...nats, ...ejabberd, ...prosody]

export const peers: Bench = {
  means: "the same exchange against Debian's ejabberd, Prosody, Mosquitto and NATS (asks before installing)",
  run: async ({ seconds }) => {
    const packages = all.flatMap((peer) => peer.packages)
    const missing = await offerPackages(packages, process.argv.includes('--install'))
    const present = all.filter((peer) => !peer.packages.some((name) => missing.includes(name)))
    const plan = {
      pairs: PAIRS,
      window: WINDOW,
      payloadBytes: PAYLOAD_BYTES,
      warmUpSeconds: WARM_UP_SECONDS,
      seconds,
    }
    const results = new Map<Peer, DriveResult[]>()
    // Each server starts with an empty folder. All of them run once in each round, so that a drift of the
    // machine's speed affects all.
    for (let round = 0; round < ROUNDS; round++) {
      for (const peer of present) {
        const running = await peer.start()
        try {
          results.set(peer, [...(results.get(peer) ?? []), await drive(running, plan)])
        } finally {
          await running.stop()
        }
      }
    }
    const bare = results.get(floor) ?? []
    const rows = present.map((peer) => rowOf(peer, results.get(peer) ?? [], bare))
    const settings = {
      pairs: PAIRS,
      'in flight a pair': WINDOW,
      payloadBytes: PAYLOAD_BYTES,
      rounds: ROUNDS,
      seconds,
      versions: await versionsOf(packages.filter((name) => !missing.includes(name))),
      'left out, not installed': missing.join(' ') || 'nothing',
    }
    return { settings, rows }
  },
}

function rowOf(
  peer: Peer,
  results: readonly DriveResult[],
  bare: readonly DriveResult[],
): Record<string, string | number> {
  const of = (value: (result: DriveResult) => number, all = results): number => median(all.map(value))
  const cpuUs = ({ serverCpuUs }: DriveResult): number => serverCpuUs
  const rate = ({ perSecond }: DriveResult): number => perSecond
  const [serverBusy, loadBusy] = [of((result) => result.serverBusy), of((result) => result.loadBusy)]
  return {
    server: peer.name,
    'CPU, floor to this': round(of(cpuUs, bare) / of(cpuUs)),
    'rate, this to floor': round(of(rate) / of(rate, bare)),
    'messages/s': Math.round(of(rate)),
    'CPU µs': round(of(cpuUs)),
    'ack p50 ms': round(of((result) => percentile(result.ackMs, 50))),
    'ack p99 ms': round(of((result) => percentile(result.ackMs, 99))),
    lost: results.reduce((sum, { lost }) => sum + lost, 0),
    bottleneck: serverBusy > 0.9 ? 'server' : loadBusy > 0.9 ? 'load' : 'neither',
    'at its acknowledgement': peer.promise,
    'missing of the exchange': peer.missing,
  }
}

async function versionsOf(packages: readonly string[]): Promise<string> {
  const versions: string[] = []
  for (const name of new Set(packages))
    versions.push((await Bun.$`dpkg-query -W -f ${'${Package} ${Version}'} ${name}`.quiet().text()).trim())
  return versions.join(', ')
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
