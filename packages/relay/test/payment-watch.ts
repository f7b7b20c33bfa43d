// Helpers for tests of payment providers: a log that records its lines, and a wait for an expectation.
import type { Log, LogFields } from '../src/operations/log.ts'

type Level = 'error' | 'warn' | 'info' | 'debug'

/** A log whose lines a test can read. */
export function recordingLog(): { log: Log; events: [Level, string][]; fields: LogFields[] } {
  const events: [Level, string][] = []
  const fields: LogFields[] = []
  const at =
    (level: Level) =>
    (event: string, given: LogFields = {}) => {
      events.push([level, event])
      fields.push(given)
    }
  return {
    log: { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') },
    events,
    fields,
  }
}

/** Resolves once `holds` no longer throws. Rejects with its last error after a minute at least. */
export async function eventually(holds: () => void | Promise<void>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await holds()
    } catch (error) {
      if (tries === 3000) throw error
      await Bun.sleep(20)
    }
  }
}
