// Structured logs with allow-listed fields: never a payload, key, token, full alias or raw error of a client.
import pino from 'pino'

/** How much is logged, from nothing to everything. */
export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const
/** See {@link logLevels}. */
export type LogLevel = (typeof logLevels)[number]

/** All that a log line may carry besides its event. */
export interface LogFields {
  readonly account?: number
  readonly code?: string | number
  readonly count?: number
  readonly durationMs?: number
  readonly endpoint?: string
  readonly frame?: string
  readonly setting?: string
  readonly url?: string
  readonly version?: string
  readonly reason?: string
  /** A bug or a failing part of ours, with its stack. Never an error a client caused. */
  readonly error?: unknown
}

/** Writes events; each is a lasting name in snake_case that operators can search for. */
export interface Log {
  error(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  info(event: string, fields?: LogFields): void
  debug(event: string, fields?: LogFields): void
}

/** A log of JSON lines on standard error. */
export function createLog(level: LogLevel): Log {
  const logger = pino(
    {
      level,
      base: null,
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
