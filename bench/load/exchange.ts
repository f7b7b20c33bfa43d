// The whole exchange under load: `msg`, `ack`, delivery, the recipient's `delivered`, and its forwarding. A
// closed loop keeps a number of messages in flight for each pair. An open loop sends a number of messages a
// second, and counts latency from the time each was due, so that a stall shows.
import { cpuMs } from '../measure.ts'
import type { Pair } from './pairs.ts'

/** The figures of one run. */
export interface ExchangeResult {
  readonly perSecond: number
  /** CPU time of the server for each message, in microseconds. */
  readonly serverCpuUs: number
  /** How busy each side's core was, from 0 to 1. */
  readonly serverBusy: number
  readonly loadBusy: number
  /** Milliseconds from due (open loop) or sent (closed loop) to `ack`. */
  readonly ackMs: readonly number[]
  /** Milliseconds from due or sent to the arrival at the recipient. */
  readonly arrivalMs: readonly number[]
  /** By how much each meter of the plan rose while the messages were counted, for each second. */
  readonly metersPerSecond: Readonly<Record<string, number>>
  /** Messages, of the whole run, that were never acknowledged or did not arrive. */
  readonly lost: number
}

/** The plan of a run. */
export interface ExchangePlan {
  readonly serverPid: number
  readonly seconds: number
  /** If given, the measurement goes on until it resolves, if that is later. */
  readonly until?: Promise<unknown>
  readonly warmUpSeconds: number
  readonly payloadBytes: number
  /** Messages in flight for each pair (closed loop), or undefined for an open loop. */
  readonly window?: number
  /** Messages a second, all pairs together (open loop). */
  readonly rate?: number
  /** Whether recipients confirm messages. Unconfirmed messages stay stored. */
  readonly receipts: boolean
  /** What else to read before and after, such as the CPU time of other processes. */
  readonly meters?: Readonly<Record<string, () => number>>
}

const ACK = 'a'.charCodeAt(0)
const MSG = 'm'.charCodeAt(0)
const TYPE_AT = '{"type":"'.length
const ID_IN_ACK = '{"type":"ack","id":"'.length
const ID_IN_MSG = '{"type":"msg","id":"'.length
const COUNTER_DIGITS = 9
const SEQ = Buffer.from('"seq":')

/** Runs an exchange over connected pairs. They stay connected afterwards. */
export async function runExchange(pairs: readonly Pair[], plan: ExchangePlan): Promise<ExchangeResult> {
  const payload = Buffer.alloc(Math.floor((plan.payloadBytes * 3) / 4), 7).toString('base64')
  const run = { isOver: false, isMeasured: false }
  const ackMs: number[] = []
  const arrivalMs: number[] = []
  const lanes = pairs.map((pair) => createLane(pair, { plan, payload, run, ackMs, arrivalMs }))

  const pacer = plan.rate === undefined ? undefined : paceOpenLoop(lanes, plan.rate, run)
  if (pacer === undefined)
    for (const lane of lanes) for (let n = 0; n < (plan.window ?? 1); n++) lane.send(performance.now())

  await Bun.sleep(plan.warmUpSeconds * 1000)
  run.isMeasured = true
  const before = { at: performance.now(), server: cpuMs(plan.serverPid), load: cpuMs(process.pid) }
  const meters = Object.entries(plan.meters ?? {}).map(([name, read]) => ({ name, read, start: read() }))
  await Promise.all([Bun.sleep(plan.seconds * 1000), plan.until])
  run.isMeasured = false
  const ms = performance.now() - before.at
  const [server, load] = [cpuMs(plan.serverPid) - before.server, cpuMs(process.pid) - before.load]
  const risen = meters.map(({ name, read, start }) => [name, ((read() - start) / ms) * 1000])
  run.isOver = true
  await pacer
  await untilQuiet(lanes)
  if (!plan.receipts) await confirmAll(lanes)
  return {
    perSecond: (ackMs.length / ms) * 1000,
    serverCpuUs: (server * 1000) / ackMs.length,
    serverBusy: server / ms,
    loadBusy: load / ms,
    ackMs,
    arrivalMs,
    metersPerSecond: Object.fromEntries(risen),
    lost: lanes.reduce((sum, lane) => sum + lane.inFlight(), 0),
  }
}

interface Lane {
  send(due: number): void
  /** Confirms all messages that arrived. */
  confirm(): void
  inFlight(): number
}

function createLane(
  { from, to, fromAlias, toAlias, conv }: Pair,
  context: {
    plan: ExchangePlan
    payload: string
    run: { isOver: boolean; isMeasured: boolean }
    ackMs: number[]
    arrivalMs: number[]
  },
): Lane {
  const { plan, payload, run, ackMs, arrivalMs } = context
  const prefix = crypto.randomUUID().slice(0, 8)
  const due = new Map<number, number>()
  const arriving = new Map<number, number>()
  let count = 0
  const send = (at: number): void => {
    count += 1
    due.set(count, at)
    arriving.set(count, at)
    const id = prefix + String(count).padStart(COUNTER_DIGITS, '0')
    from.send(
      `{"type":"msg","id":"${id}","to":"${toAlias}","conv_id":"${conv}","crypto_v":1,"payload":"${payload}"}`,
    )
  }
  let lastSeq = 0
  const confirm = (): void => {
    if (lastSeq > 0) to.send(`{"type":"delivered","conv_id":"${conv}","seq":${lastSeq},"to":"${fromAlias}"}`)
  }
  const take = (times: Map<number, number>, bytes: Buffer, idAt: number): number => {
    const key = digitsAt(bytes, idAt + prefix.length)
    const at = times.get(key) ?? Number.NaN
    times.delete(key)
    return performance.now() - at
  }
  from.onFrame = (bytes, start) => {
    if (bytes[start + TYPE_AT] !== ACK) return
    const ms = take(due, bytes, start + ID_IN_ACK)
    if (run.isMeasured) ackMs.push(ms)
    if (plan.window !== undefined && !run.isOver) send(performance.now())
  }
  to.onFrame = (bytes, start, end) => {
    if (bytes[start + TYPE_AT] !== MSG) return
    const ms = take(arriving, bytes, start + ID_IN_MSG)
    if (run.isMeasured) arrivalMs.push(ms)
    lastSeq = digitsAt(bytes, bytes.lastIndexOf(SEQ, end) + SEQ.length)
    if (plan.receipts) confirm()
  }
  return { send, confirm, inFlight: () => due.size + arriving.size }
}

function digitsAt(bytes: Buffer, at: number): number {
  let value = 0
  for (let index = at; ; index++) {
    const digit = (bytes[index] ?? 0) - 48
    if (digit < 0 || digit > 9) return value
    value = value * 10 + digit
  }
}

async function paceOpenLoop(lanes: readonly Lane[], rate: number, run: { isOver: boolean }): Promise<void> {
  const start = performance.now()
  for (let sent = 0; !run.isOver; ) {
    const dueCount = Math.floor(((performance.now() - start) / 1000) * rate)
    for (; sent < dueCount; sent++) lanes[sent % lanes.length]?.send(start + ((sent + 1) / rate) * 1000)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

async function untilQuiet(lanes: readonly Lane[]): Promise<void> {
  for (let waited = 0; waited < 10_000 && lanes.some((lane) => lane.inFlight() > 0); waited += 50)
    await Bun.sleep(50)
}

// Confirms all messages that this run left stored, so that the next run does not have to delete them.
async function confirmAll(lanes: readonly Lane[]): Promise<void> {
  for (const lane of lanes) lane.confirm()
  await Bun.sleep(3000)
}
