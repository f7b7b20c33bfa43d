// The security log: who logged in, who could not, who reached a rate, and what the operator did. A file apart
// from the log, because other people may read it, and it is kept for another time.
import { createHmac } from 'node:crypto'
import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs'
import type { RateName } from '@sotto/protocol'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import { RepeatedWarning } from './repeated-warning.ts'
import { SettingError } from './setting-error.ts'

/** What can be recorded. docs/log-events.md says what each means. */
export type SecurityEvent = 'login' | 'login_failed' | 'rate_reached' | 'operator_command'

/** What a line may say besides its event. */
export interface SecurityFields {
  /** Written as a hash with a key of the relay. */
  readonly address?: string
  /** The number of its row. Written as a hash with a key of the relay. */
  readonly account?: number
  readonly reason?: string
  readonly rate?: RateName
  readonly command?: string
  /** The name that an operator gave. */
  readonly by?: string
  readonly outcome?: 'done' | 'refused' | 'failed'
}

/** Where parts of the relay record what happened. */
export interface SecurityLog {
  /** @param about not written: tells occasions with equal fields apart */
  record(event: SecurityEvent, fields: SecurityFields, about?: string): void
  /** Writes how often the lines since the last call were repeated. Called once a minute, and at the end. */
  sweep(): void
}

interface SecurityLogParts {
  readonly clock: Clock
  readonly log: Log
  /** With it, addresses and accounts are hashed. */
  readonly secret: Uint8Array
  /** The size at which the file is renamed to `<file>.1`, in bytes. */
  readonly mostBytes?: number
}

const MOST_BYTES = 32 * 1024 * 1024
/** The most lines that are remembered, to count their repetitions. */
const MOST_REMEMBERED = 10_000
const HASH_CHARACTERS = 16

/** Records nothing. */
export const noSecurityLog: SecurityLog = { record: () => undefined, sweep: () => undefined }

/**
 * Opens the security log. Each line is appended to the file of this name, so the file may be moved away or
 * cut short at any time.
 * @throws SettingError if the file cannot be written
 */
export function openSecurityLog(file: string, parts: SecurityLogParts): SecurityLog {
  const { clock, secret, mostBytes = MOST_BYTES } = parts
  const failed = new RepeatedWarning('security_log_failed', parts)
  const remembered = new Map<string, { readonly line: object; repeated: number }>()
  const hashOf = (text: string): string =>
    createHmac('sha256', secret).update(text).digest('base64url').slice(0, HASH_CHARACTERS)
  const write = (line: object): void => {
    try {
      append(file, `${JSON.stringify({ time: new Date(clock.now()).toISOString(), ...line })}\n`, mostBytes)
    } catch (error) {
      failed.happened({ setting: 'SECURITY_LOG', reason: reasonOf(error) })
    }
  }
  const sweep = (): void => {
    for (const { line, repeated } of remembered.values()) if (repeated > 0) write({ ...line, repeated })
    remembered.clear()
  }
  try {
    append(file, '', mostBytes)
  } catch (error) {
    throw new SettingError('SECURITY_LOG', `a file that the relay can write, or off: ${reasonOf(error)}`)
  }
  return {
    record: (event, fields, about = '') => {
      const key = JSON.stringify([event, fields, about])
      const known = remembered.get(key)
      if (known) {
        known.repeated += 1
        return
      }
      if (remembered.size >= MOST_REMEMBERED) sweep()
      const { address, account, ...plain } = fields
      const line = {
        event,
        ...plain,
        ...(address === undefined ? {} : { address: hashOf(`address ${address}`) }),
        ...(account === undefined ? {} : { account: hashOf(`account ${account}`) }),
      }
      remembered.set(key, { line, repeated: 0 })
      write(line)
    },
    sweep,
  }
}

// Opened for each line, so that nobody needs to tell the relay that the file was moved away.
function append(file: string, text: string, mostBytes: number): void {
  const descriptor = openSync(file, 'a', 0o600)
  try {
    const { size } = fstatSync(descriptor)
    if (size === 0 || size + text.length <= mostBytes) {
      writeSync(descriptor, text)
      return
    }
  } finally {
    closeSync(descriptor)
  }
  renameSync(file, `${file}.1`)
  append(file, text, mostBytes)
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
