// Structured logs. Only listed fields are allowed: never a payload, key, token, full alias or raw error of a
// client.
import pino from 'pino'

/** The log levels, from nothing to everything. */
export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const
/** See {@link logLevels}. */
export type LogLevel = (typeof logLevels)[number]

/** The only fields that a log line may have besides its event. */
export interface LogFields {
  readonly account?: number
  /** An address that reached a limit or rate, so that the operator can keep it out. */
  readonly address?: string
  /** In the asset's smallest unit. */
  readonly amount?: string
  readonly code?: string | number
  readonly count?: number
  readonly databaseBytes?: number
  readonly durationMs?: number
  readonly endpoint?: string
  readonly frame?: string
  readonly freeBytes?: number
  /** The kind of an order. */
  readonly goods?: string
  readonly mediaBytes?: number
  readonly otherBytes?: number
  /** The number of an order's row. Its id would let a reader of the log bind a reserved id. */
  readonly order?: number
  readonly payout?: string
  readonly rate?: string
  readonly setting?: string
  readonly url?: string
  readonly version?: string
  /** The number of a process that serves the port with others. */
  readonly worker?: number
  readonly reason?: string
  /** A bug, or a failure of the relay's own parts, with its stack. Never an error that a client caused. */
  readonly error?: unknown
}

/**
 * Writes events. An event is a name in snake_case that does not change, so that operators can search for it.
 */
export interface Log {
  error(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  info(event: string, fields?: LogFields): void
  debug(event: string, fields?: LogFields): void
}

/**
 * Creates a log that writes JSON lines to standard error.
 * @param worker the number that each line has, if several processes serve one port
 */
export function createLog(level: LogLevel, worker?: number): Log {
  const logger = pino(
    {
      level,
      base: worker === undefined ? null : { worker },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.err },
    },
    pino.destination({ fd: 2, sync: true }),
  )
  const at =
    (name: 'error' | 'warn' | 'info' | 'debug') =>
    (event: string, fields: LogFields = {}) =>
      logger[name]({ event, ...fields })
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') }
}
