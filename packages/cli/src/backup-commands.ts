// sotto backup, sotto backup check, sotto restore: copies of a relay's database and media.
import {
  type Command,
  CommandError,
  type CommandGroup,
  type Flags,
  neededFlag,
  textFlag,
  UsageError,
} from './command.ts'
import { atRelay, environmentOf, type Relay } from './relay-environment.ts'

export const backupCommand: CommandGroup = {
  name: 'backup',
  summary: 'copy the relay’s database and media while the relay runs',
  help: `Usage: sotto backup --folder F [--keep-last N] [--to-key KEY] [--data-dir D]
       sotto backup --to FILE [--to-key KEY] [--data-dir D]
       sotto backup check F

With --folder, adds a backup of the embedded database and of the media to F. Media that are
in F already are not copied again. With --to, copies only the database. The relay may keep
running. "sotto restore" restores either.

  --folder F      the folder of backups, which is made if its parent exists; or a bucket,
                  s3://BUCKET or s3://BUCKET/FOLDER, set up by BACKUP_S3_ENDPOINT and others
  --keep-last N   then remove all backups in F but the newest N, and the media that only they
                  have; nothing is removed if the new backup is not whole
  --to FILE       where to put a copy of the database; it must not exist yet
  --to-key KEY    encrypt to this public key of age (age1…; several with commas between them),
                  instead of BACKUP_KEY. "age-keygen -o FILE" makes a pair of keys. Keep the
                  secret one elsewhere: without it nobody can read the backup.
  --data-dir D    the relay's data folder (default: DATA_DIR, otherwise ./data)

"sotto backup check" reads all files of the backups in F and compares them with their
checksums. It names those that are damaged or missing, and then exits with 1.

Call it with the relay's settings if MEDIA_DIR is set. Media in a bucket are not copied.`,
  alone: {
    options: {
      folder: { type: 'string' },
      'keep-last': { type: 'string' },
      to: { type: 'string' },
      'to-key': { type: 'string' },
      'data-dir': { type: 'string' },
    },
    run: async (flags) => {
      if (flags.folder !== undefined && flags.to !== undefined)
        throw new UsageError('--folder and --to exclude each other; see "sotto backup --help"')
      const environment = environmentWithKey(flags)
      const keepLast = countFlag(flags, 'keep-last')
      if (flags.folder !== undefined) {
        const folder = neededFlag(flags, 'folder', 'where to put the backup')
        return await runAndPrint((relay) => relay.backUpAll(environment, folder, keepLast))
      }
      if (keepLast !== undefined)
        throw new UsageError('--keep-last needs --folder; see "sotto backup --help"')
      const file = neededFlag(flags, 'to', 'where to put the copy; --folder also backs up media')
      return await runAndPrint((relay) => relay.backUp(environment, file))
    },
  },
  actions: [
    {
      name: 'check',
      options: {},
      words: ['F'],
      run: async (flags, [folder = '']) => {
        const { backups, files, damaged } = await atRelay((relay) =>
          relay.checkAll(environmentOf(flags), folder),
        )
        for (const sentence of damaged) print(sentence)
        if (damaged.length > 0)
          throw new CommandError(
            `files of ${folder} that are damaged or missing: ${damaged.length}; if you delete damaged media, the next backup copies them again`,
          )
        return print(`${folder} is whole. Backups: ${backups}, files: ${files}.`)
      },
    },
  ],
}

export const restoreCommand: Command = {
  name: 'restore',
  summary: 'restore a backup into an empty data folder',
  help: `Usage: sotto restore --from PLACE [--identity FILE] [--skip-damaged] [--data-dir D]

Restores the newest backup of a folder, or one copy of a database, into a data folder without
a store, and moves all numbers ahead and deletes key packages as "sotto after-restore" does.
A restore that was cut off can be repeated.

  --from PLACE    a folder or bucket of "sotto backup --folder", the database of one backup in
                  it, or a file of "sotto backup --to"
  --identity FILE the file with the secret key of age, if the backup is encrypted
  --skip-damaged  leave media out that are damaged in the backup
  --data-dir D    the new data folder (default: DATA_DIR, otherwise ./data)

Call it with the relay's settings if MEDIA_DIR is set.`,
  options: {
    from: { type: 'string' },
    identity: { type: 'string' },
    'skip-damaged': { type: 'boolean' },
    'data-dir': { type: 'string' },
  },
  run: async (flags) => {
    const from = neededFlag(flags, 'from', 'what to restore')
    const identity = textFlag(flags, 'identity')
    const isDamageSkipped = flags['skip-damaged'] === true
    return await runAndPrint((relay) =>
      relay.restore(environmentOf(flags), { from, identity, isDamageSkipped }),
    )
  },
}

function environmentWithKey(flags: Flags): Record<string, string | undefined> {
  if (flags['to-key'] === undefined) return environmentOf(flags)
  return { ...environmentOf(flags), BACKUP_KEY: neededFlag(flags, 'to-key', 'which key to encrypt to') }
}

function countFlag(flags: Flags, name: string): number | undefined {
  const text = textFlag(flags, name)
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`--${name} must be a number of backups, at least 1`)
  return Number(text)
}

async function runAndPrint(act: (relay: Relay) => Promise<string>): Promise<number> {
  return print(await atRelay(act))
}

function print(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}
