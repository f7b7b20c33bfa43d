// What an operator tells the store of a relay: backup, after-restore, resume-expiry.
import { type Command, neededFlag } from './command.ts'
import { atRelay, environmentOf, type Relay } from './relay-environment.ts'

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
    const file = neededFlag(flags, 'to', 'where to put the copy')
    return await tell(async (relay) => relay.backUp(environmentOf(flags), file))
  },
}

export const afterRestoreCommand: Command = {
  name: 'after-restore',
  summary: 'once after a backup was put back: repeat no number anybody has seen',
  help: `Usage: sotto after-restore [--data-dir D]

Moves every conversation ahead by a million, since clients may have seen messages that the
backup does not know, and with them the number that deposit addresses are made from, since
it may not know every order either. The relay must not be running.

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

async function tell(act: (relay: Relay) => Promise<string>): Promise<number> {
  process.stdout.write(`${await atRelay(act)}\n`)
  return 0
}
