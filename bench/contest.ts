// Measures servers that do the same work alternately, so that a drift of the machine's speed affects all of
// them.
import { bottleneckOf, cpuMs, median, ratio } from './measure.ts'

/** The figures of one server after some seconds of work. */
export interface Measured {
  readonly perSecond: number
  /** CPU time of the server for each unit of work, in microseconds. */
  readonly cpuUs: number
  /** How busy each side's core was, from 0 to 1. */
  readonly serverBusy: number
  readonly loadBusy: number
}

/** A server together with work that can be repeated on it. */
export interface Contender {
  readonly name: string
  measure(seconds: number): Promise<Measured>
  close(): Promise<void>
}

/** @param work resolves with the number of units done */
export async function measureWork(serverPid: number, work: () => Promise<number>): Promise<Measured> {
  const before = { at: performance.now(), server: cpuMs(serverPid), load: cpuMs(process.pid) }
  const units = await work()
  const ms = performance.now() - before.at
  const [server, load] = [cpuMs(serverPid) - before.server, cpuMs(process.pid) - before.load]
  return {
    perSecond: (units / ms) * 1000,
    cpuUs: (server * 1000) / units,
    serverBusy: server / ms,
    loadBusy: load / ms,
  }
}

/** Measures every contender in every round, after one warm-up round that does not count. */
export async function measureAlternately(
  contenders: readonly Contender[],
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<Map<string, Measured[]>> {
  const results = new Map(contenders.map(({ name }) => [name, [] as Measured[]]))
  for (const contender of contenders) await contender.measure(1)
  for (let round = 0; round < rounds; round++) {
    // Every second round runs in reverse order, so that no contender always runs after the same one.
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed())
      results.get(contender.name)?.push(await contender.measure(seconds))
  }
  return results
}

/** The median of one figure over all rounds. */
export function medianOf(results: readonly Measured[], figure: keyof Measured): number {
  return median(results.map((result) => result[figure]))
}

/**
 * One row for each contender. The ratios come first: each compares a contender with the one named `floor`.
 */
export function rowsAgainstFloor(
  results: ReadonlyMap<string, readonly Measured[]>,
  { unit, units }: { unit: string; units: string },
) {
  const floor = results.get('floor') ?? []
  return [...results].map(([server, of]) => ({
    server,
    'CPU, floor to this': ratio(medianOf(floor, 'cpuUs') / medianOf(of, 'cpuUs')),
    'rate, this to floor': ratio(medianOf(of, 'perSecond') / medianOf(floor, 'perSecond')),
    [`CPU µs a ${unit}`]: Math.round(medianOf(of, 'cpuUs') * 100) / 100,
    [`${units}/s`]: Math.round(medianOf(of, 'perSecond')),
    bottleneck: bottleneckOf(medianOf(of, 'serverBusy'), medianOf(of, 'loadBusy')),
  }))
}
