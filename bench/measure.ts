// Measurements of a process from outside, and the statistics of runs.
import { readdirSync, readFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'

/** CPU time that a process has used, in milliseconds, user and system together. */
export function cpuMs(pid: number): number {
  return cpuTimes(pid).ownMs
}

/**
 * CPU time of a process and of all that it started, in milliseconds. What has ended counts once its parent
 * has waited for it.
 */
export function treeCpuMs(pid: number): number {
  const { ownMs, endedMs } = cpuTimes(pid)
  let sum = ownMs + endedMs
  for (const child of childrenOf(pid)) {
    try {
      sum += treeCpuMs(child)
    } catch {
      // It has ended since it was listed. It counts for its parent from now on.
    }
  }
  return sum
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    try {
      const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim()
      return children === '' ? [] : children.split(' ').map(Number)
    } catch {
      return [] // The thread has ended since it was listed.
    }
  })
}

function cpuTimes(pid: number): { ownMs: number; endedMs: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [, , , , , , , , , , , user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields
  // The kernel counts in hundredths of a second (proc(5)).
  return { ownMs: (user + system) * 10, endedMs: (endedUser + endedSystem) * 10 }
}

/** CPU time that the whole machine has used, in milliseconds, with what its host took away. */
export function machineCpuMs(): number {
  const [total = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0, stolen = 0] = total
    .split(/ +/)
    .slice(1)
    .map(Number)
  return (user + nice + system + irq + softIrq + stolen) * 10
}

/** Resident memory of a process, in KiB. */
export function residentKib(pid: number): number {
  return Number(/VmRSS:\s+(?<kib>\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.groups?.kib)
}

/**
 * Watches a process's memory. The returned function stops that and returns by how many KiB it grew at most.
 */
export function watchMemory(pid: number): () => number {
  const before = residentKib(pid)
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, residentKib(pid))
  }, 5)
  return () => {
    clearInterval(timer)
    return most - before
  }
}

/** The middle value, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]]
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2
}

/** The smallest of the values that at least `percent` % of them do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN
}

/** The machine that a result was measured on, and the commit. */
export function machine(): Readonly<Record<'cpu' | 'kernel' | 'bun' | 'commit', string>> &
  Readonly<Record<'cores' | 'memoryGib', number>> {
  const [first] = cpus()
  const { stdout, success } = Bun.spawnSync(['git', 'rev-parse', '--short', 'HEAD'], { cwd: import.meta.dir })
  return {
    commit: success ? stdout.toString().trim() : 'unknown',
    cpu: first?.model ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    kernel: readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim(),
    bun: Bun.version,
  }
}

/** The side whose core was busy for more than 90% of the time. */
export function bottleneckOf(serverBusy: number, loadBusy: number): string {
  return serverBusy > 0.9 ? 'server' : loadBusy > 0.9 ? 'load' : 'neither'
}

/** Rounds a ratio to two decimals for the tables. */
export function ratio(value: number): number {
  return Math.round(value * 100) / 100
}
