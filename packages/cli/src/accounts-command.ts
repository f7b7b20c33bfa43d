// sotto accounts: finds, shows, suspends and deletes accounts, through the running relay or, if none runs, in
// its store.
import type { AccountLine } from '@sotto/relay'
import { type CommandGroup, type Flags, textFlag, UsageError } from './command.ts'
import { changeAction, findAction, linesOr, showAction } from './moderation-actions.ts'
import { accountText } from './moderation-text.ts'
import { sanitizeLine } from './sanitize.ts'

const ALIAS = { ALIAS: 'alias_id' }

export const accountsCommand: CommandGroup = {
  name: 'accounts',
  summary: 'find, suspend and delete accounts, or log them out',
  help: `Usage: sotto accounts find [TEXT] [--suspended]
       sotto accounts show ALIAS
       sotto accounts log-out ALIAS
       sotto accounts suspend ALIAS --reason TEXT [--for DURATION]
       sotto accounts lift ALIAS [--reason TEXT]
       sotto accounts delete ALIAS --reason TEXT

Works on the accounts of the relay on this machine. It talks to a running relay through a
socket in its data folder, which only the relay's user can open. If no relay runs, it opens
the store. ALIAS may be a former one. "sotto deeds" shows what was done, by whom and why.

  find             accounts whose alias begins with TEXT, whose nickname contains it or whose
                   uuid it is, newest first, at most 50; all without TEXT
    --suspended      only accounts that are suspended
  show             what the relay knows about an account. It cannot read messages, and names
                   no friends.
  log-out          make every token of an account dead and close its connections, at once.
                   Connections to a relay on another machine are closed within a minute.
                   Devices that have the account's keys log in again by themselves: this
                   helps against a stolen token, not against a stolen device or phrase.
  suspend          the same, and let nobody log in to the account except to read and delete
                   what it has. Nothing that it sent is delivered, also what waits already.
                   Again, it changes the reason and the end.
    --for DURATION   end it by itself, such as after 12h, 7d or 4w
  lift             end a suspension. What the account had sent is delivered.
  delete           delete an account as its owner can, for good

  --reason TEXT    why, at most 500 characters. The owner of a suspended account reads it.
  --by NAME        who does it (default: your user name on this machine)
  --json           print JSON instead of text
  --data-dir D     the relay's data folder (default: DATA_DIR, otherwise ./data)

If no relay runs on this machine and DATABASE_URL is set, the command uses that database.
The exit code is 0, 1 if the relay refused, or 2 if the command was called wrongly.`,
  actions: [
    findAction({
      command: 'accounts.find',
      state: 'suspended',
      said: linesOr('There are no such accounts.', lineOf),
    }),
    showAction({ command: 'accounts.show', words: ALIAS, said: accountText }),
    changeAction({
      command: 'accounts.log-out',
      words: ALIAS,
      said: ({ alias_id }) => `${alias_id} is logged out everywhere.`,
    }),
    changeAction({
      command: 'accounts.suspend',
      words: ALIAS,
      needsReason: true,
      options: { for: { type: 'string' } },
      more: untilOf,
      said: ({ alias_id, suspended }) =>
        `${alias_id} is suspended until ${suspended?.until ?? 'it is lifted'}.`,
    }),
    changeAction({
      command: 'accounts.lift',
      words: ALIAS,
      said: ({ alias_id }) => `${alias_id} is not suspended any more.`,
    }),
    changeAction({
      command: 'accounts.delete',
      words: ALIAS,
      needsReason: true,
      said: ({ alias_id }) => `${alias_id} is deleted.`,
    }),
  ],
}

function lineOf({ alias_id, nickname, created_at, suspended }: AccountLine): string {
  const state = suspended ? `  suspended: ${sanitizeLine(suspended.reason, 100)}` : ''
  return `${alias_id.padEnd(12)}  ${created_at.slice(0, 10)}  ${sanitizeLine(nickname, 64)}${state}`
}

const HOURS: Readonly<Record<string, number>> = { h: 1, d: 24, w: 168 }

function untilOf(flags: Flags): { until?: string } {
  const text = textFlag(flags, 'for')
  if (text === undefined) return {}
  const [, count, unit = ''] = /^([1-9]\d{0,3})([hdw])$/.exec(text) ?? []
  if (count === undefined) throw new UsageError(`--for takes a duration such as 12h, 7d or 4w, not "${text}"`)
  return { until: new Date(Date.now() + Number(count) * (HOURS[unit] ?? 0) * 3_600_000).toISOString() }
}
