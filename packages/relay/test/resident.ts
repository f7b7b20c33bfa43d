// The memory of a relay process, as the kernel counts it.
import { readFileSync } from 'node:fs'

/** Resident memory of a process, in MiB. */
export function residentMib({ pid }: { readonly pid: number }): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(?<kib>\d+) kB$/m.exec(status)?.groups?.kib) / 1024
}
