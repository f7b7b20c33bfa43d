// How long a page does not answer.
import type { Page } from 'playwright-core'

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** The processor's time in microseconds: other processes do not add to it, as they do to the clock's. */
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

/**
 * Does some work with a page.
 * @returns the processor time of the longest task of the pages' main threads meanwhile, in milliseconds
 */
export async function longestTask(page: Page, work: () => Promise<void>): Promise<number> {
  const browser = page.context().browser()
  if (!browser) throw new Error('the page has no browser of its own')
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] })
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
  const tasks = trace.traceEvents.filter(
    ({ name, pid, tid, tdur }) => tdur !== undefined && /RunTask/.test(name) && threads.has(`${pid} ${tid}`),
  )
  if (tasks.length === 0) throw new Error('the trace has no tasks')
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000
}
