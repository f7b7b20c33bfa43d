// How long a page does not answer.
import type { Page } from 'playwright-core'

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** When it began, in microseconds of a clock that all events share. */
  readonly ts: number
  /** How long it took by that clock. */
  readonly dur?: number
  /** The processor's time in microseconds: other processes do not add to it, as they do to the clock's. */
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

/**
 * In the end of an answer's body, the browser decodes the whole answer for the program that drives it, which
 * asked for it. Nobody else's browser does so: an answer of 15 MB takes 250 ms. Scripts that run in there are
 * the page's own.
 */
const OF_THE_DRIVER = 'ResponseBodyLoader::DidFinishLoadingBody'
const SCRIPTS = 'RunMicrotasks'
/** What promises run after a task. It stands beside the task in the trace. */
const AFTER_A_TASK = 'BlinkScheduler_PerformMicrotaskCheckpoint'

/**
 * Does some work with a page.
 * @returns the processor time of the longest task of the pages' main threads meanwhile, or of what promises
 *   ran after one if that took longer, in milliseconds. The page answers to nothing between the two, so it
 *   may be silent for their sum. What the browser does only for the program that drives it is left out.
 */
export async function longestTask(page: Page, work: () => Promise<void>): Promise<number> {
  const browser = page.context().browser()
  if (!browser) throw new Error('the page has no browser of its own')
  await browser.startTracing(page, {
    categories: ['toplevel', 'blink', 'scheduler', 'v8.execute', '__metadata'],
  })
  try {
    await work()
  } catch (error) {
    await browser.stopTracing()
    throw error
  }
  const trace: { traceEvents: readonly TraceEvent[] } = JSON.parse((await browser.stopTracing()).toString())
  const threads = new Set(
    trace.traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  )
  const timed = trace.traceEvents.filter(
    ({ pid, tid, tdur }) => tdur !== undefined && threads.has(`${pid} ${tid}`),
  )
  const tasks = timed.filter(({ name }) => name === AFTER_A_TASK || /RunTask/.test(name))
  if (tasks.length === 0) throw new Error('the trace has no tasks')
  const ends = timed.filter(({ name }) => name === OF_THE_DRIVER)
  const scripts = timed.filter(({ name }) => name === SCRIPTS)
  const ofTheDriver = (task: TraceEvent): number =>
    sum(ends.filter((end) => isWithin(end, task)).map((end) => cpu(end) - sum(within(scripts, end))))
  return Math.max(...tasks.map((task) => cpu(task) - ofTheDriver(task))) / 1000
}

function within(events: readonly TraceEvent[], outer: TraceEvent): readonly number[] {
  return events.filter((event) => isWithin(event, outer)).map(cpu)
}

function isWithin(event: TraceEvent, outer: TraceEvent): boolean {
  return (
    event.pid === outer.pid &&
    event.tid === outer.tid &&
    event.ts >= outer.ts &&
    event.ts + (event.dur ?? 0) <= outer.ts + (outer.dur ?? 0)
  )
}

function cpu({ tdur = 0 }: TraceEvent): number {
  return tdur
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
