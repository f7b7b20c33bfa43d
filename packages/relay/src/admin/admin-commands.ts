// The operator's commands around the admin page: opening and closing it, and what only it shows.
import * as v from 'valibot'
import { type OperatorCommand, OperatorRefusal, operatorCommand } from '../listener/operator-command.ts'
import type { LogTail } from '../operations/log-tail.ts'
import type { SettingInForce } from '../operations/settings-in-force.ts'
import type { AdminCommands, AdminPage } from './admin-page.ts'
import { LINK_SECONDS, SESSION_SECONDS } from './admin-sessions.ts'
import { type DayFigures, MinuteFigures } from './day-figures.ts'

/** The schema of each command's answer. */
export const adminAnswers = {
  'admin.open': v.object({
    /** Good once. */
    url: v.string(),
    port: v.number(),
    link_seconds: v.number(),
    session_seconds: v.number(),
  }),
  'admin.close': v.object({ was_open: v.boolean() }),
  settings: v.array(v.object({ name: v.string(), value: v.nullable(v.string()), is_set: v.boolean() })),
  log: v.array(
    v.object({
      at: v.string(),
      level: v.picklist(['error', 'warn', 'info', 'debug']),
      event: v.string(),
      fields: v.record(v.string(), v.string()),
    }),
  ),
  figures: v.array(MinuteFigures),
} as const

/** What a running relay has for the page. */
export interface AdminParts {
  readonly page: AdminPage
  readonly tail: LogTail
  readonly inForce: readonly SettingInForce[]
  readonly figures: DayFigures
}

/**
 * The commands, by name.
 * @param admin undefined if no relay runs
 * @param pageCommands the commands that the page may ask for
 */
export function adminCommands(
  admin: AdminParts | undefined,
  pageCommands: () => AdminCommands,
): Readonly<Record<keyof typeof adminAnswers, OperatorCommand>> {
  const running = (): AdminParts => {
    if (!admin) throw new OperatorRefusal('no relay runs on this data folder; start it with sotto serve')
    return admin
  }
  return {
    'admin.open': operatorCommand(
      v.object({
        port: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65_535)), 0),
        who: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(64), v.regex(/^\P{Cc}*$/u)),
      }),
      async (asked) => {
        const url = running().page.open({ ...asked, commands: pageCommands() })
        return {
          url,
          port: Number(new URL(url).port),
          link_seconds: LINK_SECONDS,
          session_seconds: SESSION_SECONDS,
        }
      },
    ),
    'admin.close': operatorCommand(v.object({}), async () => ({ was_open: await running().page.close() })),
    settings: operatorCommand(v.object({}), async () =>
      running().inForce.map(({ name, value, is_set }) => ({ name, value, is_set })),
    ),
    /** The minutes of the last day, oldest first. */
    figures: operatorCommand(v.object({}), async () => running().figures.list()),
    log: operatorCommand(v.object({}), async () =>
      running()
        .tail.latest()
        .map(({ at, ...line }) => ({ at: new Date(at).toISOString(), ...line })),
    ),
  }
}
