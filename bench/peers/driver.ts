// The closed loop that measures every peer: it keeps a number of messages in flight for each pair. A message
// is in flight until the sender has its acknowledgement and the recipient has the message, so that no server
// can acknowledge faster than it delivers.
import { cpuMs } from '../measure.ts'
import type { Lane, RunningPeer } from './peer.ts'
import { treeCpuMs } from './server.ts'

/** The plan of a run. */
export interface DrivePlan {
  readonly pairs: number
  readonly window: number
  readonly payloadBytes: number
  /** The minimum; `waitAtLeast` waits longer for slow servers. */
  readonly warmUpSeconds: number
  readonly seconds: number
}

/** The figures of one run. */
export interface DriveResult {
  readonly perSecond: number
  /** CPU time of all processes of the server for each message, in microseconds. */
  readonly serverCpuUs: number
  /** How busy each side's core was, from 0 to 1. */
  readonly serverBusy: number
  readonly loadBusy: number
  readonly ackMs: readonly number[]
  /** Messages that were still not finished 15 seconds after the run had ended. */
  readonly lost: number
}

interface Run {
  isOver: boolean
  isMeasured: boolean
  finished: number
  readonly ackMs: number[]
}

const QUIET_MS = 15_000
const MOST_MS = 20_000

/** Opens lanes on a peer, runs the loop and closes them. */
export async function drive(peer: RunningPeer, plan: DrivePlan): Promise<DriveResult> {
  const lanes = await peer.openLanes(plan.pairs, plan.payloadBytes)
  const run: Run = { isOver: false, isMeasured: false, finished: 0, ackMs: [] }
  const loops = lanes.map((lane) => startLoop(lane, plan.window, run))

  const inFlightAtOnce = plan.pairs * plan.window
  await waitAtLeast(run, plan.warmUpSeconds, inFlightAtOnce)
  run.finished = 0
  run.isMeasured = true
  const before = { at: performance.now(), server: treeCpuMs(peer.pid), load: cpuMs(process.pid) }
  await waitAtLeast(run, plan.seconds, 2 * inFlightAtOnce)
  run.isMeasured = false
  const { finished } = run
  const ms = performance.now() - before.at
  const [server, load] = [treeCpuMs(peer.pid) - before.server, cpuMs(process.pid) - before.load]

  run.isOver = true
  const inFlight = (): number => loops.reduce((sum, loop) => sum + loop.inFlight(), 0)
  for (let waited = 0; waited < QUIET_MS && inFlight() > 0; waited += 50) await Bun.sleep(50)
  const lost = inFlight()
  for (const lane of lanes) lane.close()
  return {
    perSecond: (finished / ms) * 1000,
    serverCpuUs: (server * 1000) / finished,
    serverBusy: server / ms,
    loadBusy: load / ms,
    ackMs: run.ackMs,
    lost,
  }
}

/**
 * Waits for `seconds`, and longer if the server is slow, until it has finished `messages`. A server that
 * answers in bursts shows its rate only over several bursts.
 */
async function waitAtLeast(run: Run, seconds: number, messages: number): Promise<void> {
  const start = performance.now()
  await Bun.sleep(seconds * 1000)
  while (run.finished < messages && performance.now() - start < MOST_MS) await Bun.sleep(50)
}

function startLoop(lane: Lane, window: number, run: Run): { inFlight(): number } {
  const sentAt = new Map<number, number>()
  // A message is finished when it has been acknowledged and has arrived, in any order. This set holds
  // messages with one of the two.
  const seenOnce = new Set<number>()
  let count = 0
  const send = (): void => {
    count += 1
    sentAt.set(count, performance.now())
    lane.send(count)
  }
  const seen = (number: number): void => {
    if (!seenOnce.delete(number)) {
      seenOnce.add(number)
      return
    }
    sentAt.delete(number)
    run.finished += 1
    if (!run.isOver) send()
  }
  lane.listener = {
    acked: (number) => {
      const at = sentAt.get(number)
      if (at === undefined) return
      if (run.isMeasured) run.ackMs.push(performance.now() - at)
      seen(number)
    },
    arrived: (number) => {
      if (sentAt.has(number)) seen(number)
    },
  }
  for (let n = 0; n < window; n++) send()
  return { inFlight: () => sentAt.size }
}
