// How late the event loop runs its timers: while it is busy with something else, nobody is served.
import type { Clock } from './clock.ts'
import type { Metrics } from './metrics.ts'

const EVERY_MS = 100
/** Seconds. */
const BOUNDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** Measures until `stop` is called. */
export function measureEventLoopDelay(metrics: Metrics, clock: Clock): { stop(): void } {
  const delay = metrics.histogram(
    'sotto_event_loop_delay_seconds',
    'How late a timer ran that was due every 0.1 s.',
    BOUNDS,
  )
  let timer: ReturnType<typeof setTimeout>
  const wait = (): void => {
    const due = clock.monotonic() + EVERY_MS
    timer = setTimeout(() => {
      delay.observe(Math.max(0, clock.monotonic() - due) / 1000)
      wait()
    }, EVERY_MS)
  }
  wait()
  return { stop: () => clearTimeout(timer) }
}
