// Logs once that the database is away, instead of everything that fails because of that.

import type { Storage } from '../storage/storage.ts'
import { isDatabaseAway } from '../storage/storage.ts'
import type { Clock } from './clock.ts'
import type { Log, LogFields } from './log.ts'
import { RepeatedWarning } from './repeated-warning.ts'

/** Logs when the database of a store cannot be used, and when it can be used again. */
export function logDatabase({ engine }: Pick<Storage, 'engine'>, parts: { log: Log; clock: Clock }): void {
  if (engine.dialect !== 'postgres') return
  const { log, clock } = parts
  const refuses = new RepeatedWarning('database_refuses', parts)
  let awaySince = 0
  engine.follow({
    away: (reason) => {
      awaySince = clock.monotonic()
      log.error('database_away', { reason })
    },
    back: () => log.info('database_back', { durationMs: Math.round(clock.monotonic() - awaySince) }),
    refused: (reason) => refuses.happened({ reason }),
  })
}

/** The same log, without what failed only because the database is away. */
export function withoutDatabaseAway(log: Log): Log {
  const at =
    (level: keyof Log) =>
    (event: string, fields?: LogFields): void => {
      if (!isDatabaseAway(fields?.error)) log[level](event, fields)
    }
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') }
}
