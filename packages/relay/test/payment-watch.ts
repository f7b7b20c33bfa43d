// What tests of payment providers watch by: a log that remembers, and waiting until something holds.
import type { Log, LogFields } from '../src/operations/log.ts'

type Level = 'error' | 'warn' | 'info' | 'debug'

/** A log whose lines a test can look at. */
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

/** Resolves once `holds` throws no more; with its last error after ten seconds. */
export async function eventually(holds: () => void): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return holds()
    } catch (error) {
      if (tries === 500) throw error
      await Bun.sleep(20)
    }
  }
}
