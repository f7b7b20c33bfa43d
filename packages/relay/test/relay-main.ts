// The relay as a separate process, for tests that kill it. With a message to the process a test stops its
// clock and moves it forward, has it run its maintenance, or has it collect its garbage and report its memory
// or timers. PASSED_MS is the time that passed this way for the previous process.
import { heapStats } from 'bun:jsc'
import { serve } from '../src/main.ts'

const machine = { now: Date.now, monotonic: performance.now.bind(performance) }
let passedMs = Number(process.env.PASSED_MS ?? 0)
let stoppedAt: { now: number; monotonic: number } | undefined
Date.now = () => (stoppedAt?.now ?? machine.now()) + passedMs
performance.now = () => (stoppedAt?.monotonic ?? machine.monotonic()) + passedMs

const maintenance: (() => unknown)[] = []
const setMachineInterval = globalThis.setInterval
globalThis.setInterval = ((run: () => void, ms: number) => {
  if (ms === 60_000) maintenance.push(run)
  return setMachineInterval(run, ms)
}) as typeof setInterval

process.on('message', (ms) => {
  if (ms === 'maintain' || ms === 'maintain to the end') {
    const passes = maintenance.map((run) => run())
    const told = (): void => void process.send?.(passes.length)
    if (ms === 'maintain') told()
    else void Promise.all(passes).then(told)
    return
  }
  if (ms === 'memory') {
    Bun.gc(true)
    process.send?.(process.memoryUsage().rss)
    return
  }
  if (ms === 'timers') {
    Bun.gc(true)
    process.send?.(heapStats().objectTypeCounts.Timeout ?? 0)
    return
  }
  // Whole milliseconds, because with fractions a difference of one second can be slightly less than a second.
  stoppedAt ??= { now: machine.now(), monotonic: Math.ceil(machine.monotonic()) }
  passedMs += Number(ms)
  process.send?.(Date.now())
})

await serve(process.env, (line) => process.stdout.write(`${line}\n`), 'npx sotto', {
  canHandOver: false,
  workerCommand: [process.execPath, import.meta.path],
})
process.exit(0)
