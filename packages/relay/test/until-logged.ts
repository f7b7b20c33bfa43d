// Waits for what a relay's process writes to its log.
import type { RelayProcess } from './relay-process.ts'

/**
 * Waits until the log since the last start has an event, on a slow machine for long.
 * @param options.times how often it must have it
 * @param options.meanwhile called again and again until then
 */
export async function untilLogged(
  relay: Pick<RelayProcess, 'errors'>,
  event: string,
  { times = 1, meanwhile }: { times?: number; meanwhile?: () => Promise<void> } = {},
): Promise<void> {
  const late = performance.now() + 120_000
  while (relay.errors().split(`"event":"${event}"`).length <= times) {
    if (performance.now() > late) throw new Error(`no ${event} in the log: ${relay.errors()}`)
    await meanwhile?.()
    await Bun.sleep(50)
  }
}
