// What is measured of a process and of a run, from outside.
import { readFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import type { ExchangeResult } from './load/exchange.ts'

/** CPU time of a process so far, in milliseconds, user and system together. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const [, , , , , , , , , , , user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(user) + Number(system)) * 10 // The kernel counts in hundredths of a second (proc(5)).
}

/** Resident memory of a process, in KiB. */
export function residentKib(pid: number): number {
  return Number(/VmRSS:\s+(?<kib>\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.groups?.kib)
}

/** The middle value. */
export function median(values: readonly number[]): number {
  return percentile(values, 50)
}

/** The value that `percent` of all are not above. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN
}

/** What a result was measured on. */
export function machine(): { cpu: string; cores: number; memoryGib: number; kernel: string; bun: string } {
  const [first] = cpus()
  return {
    cpu: first?.model ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    kernel: readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim(),
    bun: Bun.version,
  }
}

/** One row of a table: the medians of some rounds. */
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
    bottleneck: serverBusy > 0.9 ? 'server' : loadBusy > 0.9 ? 'load' : 'neither',
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
