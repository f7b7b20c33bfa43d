// The operator's commands for a relay's store: after-restore, resume-expiry, compact.
import type { Command } from './command.ts'
import { atRelay, environmentOf, type Relay } from './relay-environment.ts'

const STORE = `  --data-dir D    the relay's data folder (default: DATA_DIR, otherwise ./data)

If DATABASE_URL is set, the command uses that database.`

export const afterRestoreCommand: Command = {
  name: 'after-restore',
  summary: 'run once after restoring a backup, so that no number is used twice',
  help: `Usage: sotto after-restore [--data-dir D]

Moves every conversation ahead by a million, because clients may have seen messages that
are missing from the backup. Also moves the number that deposit addresses are made from,
because orders may be missing too, and deletes the key packages of all devices, because they
may have been given out; clients upload new ones. The relay must not be running.

${STORE}`,
  options: { 'data-dir': { type: 'string' } },
  run: (flags) => runAndPrint((relay) => relay.operatorCommands['after-restore'](environmentOf(flags))),
}

export const resumeExpiryCommand: Command = {
  name: 'resume-expiry',
  summary: 'let messages expire again after a clock jump',
  help: `Usage: sotto resume-expiry [--data-dir D]

If its clock jumps by more than an hour, a relay stops expiring messages. Correct the clock,
then run this command. The relay may be running.

${STORE}`,
  options: { 'data-dir': { type: 'string' } },
  run: (flags) => runAndPrint((relay) => relay.operatorCommands['resume-expiry'](environmentOf(flags))),
}

export const compactCommand: Command = {
  name: 'compact',
  summary: 'rewrite the database, so that nothing is left in it of what was deleted',
  help: `Usage: sotto compact [--data-dir D]

Rewrites the embedded database. A relay overwrites what it deletes, except for rare copies of
rows that SQLite has moved; this removes them. The relay must not be running. The folder
needs as much free space again as the database takes, and so does /var/tmp (or the folder
that SQLITE_TMPDIR names).

  --data-dir D    the relay's data folder (default: DATA_DIR, otherwise ./data)`,
  options: { 'data-dir': { type: 'string' } },
  run: (flags) => runAndPrint((relay) => relay.operatorCommands.compact(environmentOf(flags))),
}

async function runAndPrint(act: (relay: Relay) => Promise<string>): Promise<number> {
  process.stdout.write(`${await atRelay(act)}\n`)
  return 0
}
