// Makes a row of a results table from runs of the exchange.
import { bottleneckOf, median, percentile } from '../measure.ts'
import type { ExchangeResult } from './exchange.ts'

/** One row of a table: the medians of all rounds. */
export function exchangeRow(
  results: readonly ExchangeResult[],
  head: Record<string, string | number>,
): Record<string, string | number> {
  const of = (value: (result: ExchangeResult) => number): number => median(results.map(value))
  const [serverBusy, loadBusy] = [of((result) => result.serverBusy), of((result) => result.loadBusy)]
  return {
    ...head,
    'messages/s': Math.round(of((result) => result.perSecond)),
    'CPU µs': round(of((result) => result.serverCpuUs)),
    'ack p50 ms': round(of((result) => percentile(result.ackMs, 50))),
    'ack p99 ms': round(of((result) => percentile(result.ackMs, 99))),
    'arrival p99 ms': round(of((result) => percentile(result.arrivalMs, 99))),
    bottleneck: bottleneckOf(serverBusy, loadBusy),
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
