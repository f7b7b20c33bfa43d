// What an operator tells the store of a relay: backup, after-restore, resume-expiry.
import { type Command, CommandError, type Flags, textFlag, UsageError } from './command.ts'

const STORE = `  --data-dir D    the relay's data folder (default: DATA_DIR, else ./data)

With DATABASE_URL set, it is that database that is meant.`

export const backupCommand: Command = {
  name: 'backup',
  summary: 'copy the relay’s database while it works',
  help: `Usage: sotto backup --to FILE [--data-dir D]

Copies the embedded database into FILE, which must not exist yet. The relay may go on working.

  --to FILE       where to put the copy
  --data-dir D    the relay's data folder (default: DATA_DIR, else ./data)

To put a copy back: stop the relay, make the copy sotto.db in an empty folder, run
sotto after-restore, and start the relay on that folder.`,
  options: { to: { type: 'string' }, 'data-dir': { type: 'string' } },
  run: async (flags) => {
    const file = textFlag(flags, 'to')
    if (file === undefined) throw new UsageError('--to says where to put the copy, and is missing')
    return await tell(async (relay) => relay.backUp(environmentOf(flags), file))
  },
}

export const afterRestoreCommand: Command = {
  name: 'after-restore',
  summary: 'once after a backup was put back: repeat no number a client has seen',
  help: `Usage: sotto after-restore [--data-dir D]

Moves every conversation ahead by a million, since clients may have seen messages that the
backup does not know. The relay must not be running.

${STORE}`,
  options: { 'data-dir': { type: 'string' } },
  run: (flags) => tell((relay) => relay.operatorCommands['after-restore'](environmentOf(flags))),
}

export const resumeExpiryCommand: Command = {
  name: 'resume-expiry',
  summary: 'let messages expire again after the clock had jumped',
  help: `Usage: sotto resume-expiry [--data-dir D]

A relay whose clock jumped by more than an hour stops expiring messages. Set the clock right,
then run this. The relay may be running.

${STORE}`,
  options: { 'data-dir': { type: 'string' } },
  run: (flags) => tell((relay) => relay.operatorCommands['resume-expiry'](environmentOf(flags))),
}

type Relay = typeof import('@sotto/relay')

async function tell(act: (relay: Relay) => Promise<string>): Promise<number> {
  const relay = await import('@sotto/relay') // Only here: nobody who chats loads the relay.
  try {
    process.stdout.write(`${await act(relay)}\n`)
    return 0
  } catch (error) {
    throw error instanceof relay.OperatorError ? new CommandError(error.message) : error
  }
}

function environmentOf(flags: Flags): Record<string, string | undefined> {
  const folder = textFlag(flags, 'data-dir')
  return folder === undefined ? { ...process.env } : { ...process.env, DATA_DIR: folder }
}
