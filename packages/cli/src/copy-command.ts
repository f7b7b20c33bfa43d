// sotto copy: moves a relay from its embedded database into PostgreSQL.
import { type Command, UsageError } from './command.ts'
import { atRelay, environmentOf } from './relay-environment.ts'

export const copyCommand: Command = {
  name: 'copy',
  summary: 'move the relay from its embedded database into PostgreSQL',
  help: `Usage: sotto copy [--skip-missing] [--data-dir D]
       sotto copy --take-back [--database-lost] [--data-dir D]

Copies the embedded database into the empty PostgreSQL database that DATABASE_URL names, and
compares every table on both sides. The relay must be stopped. A copy that was cut off goes on
where it stopped when you call this again. No relay starts on a copy that is not finished, and
none on the folder from then on.

Call it with the settings that the relay will have. If MEDIA_S3_BUCKET is set, the media that
are in the folder (MEDIA_DIR, otherwise media in the data folder) are put into the bucket, and
those that are in the bucket stay. Otherwise media stay in the folder.

  --skip-missing  go on although blobs of media are missing
  --take-back     give the copy up: make the copy unusable and the folder usable again. Stop
                  all relays first. What reached them in PostgreSQL is not in the folder.
  --database-lost with --take-back: the copy no longer exists
  --data-dir D    the relay's data folder (default: DATA_DIR, otherwise ./data)`,
  options: {
    'skip-missing': { type: 'boolean' },
    'take-back': { type: 'boolean' },
    'database-lost': { type: 'boolean' },
    'data-dir': { type: 'string' },
  },
  run: async (flags) => {
    const [isMissingSkipped, isTakenBack, isDatabaseLost] = [
      flags['skip-missing'] === true,
      flags['take-back'] === true,
      flags['database-lost'] === true,
    ]
    if (isTakenBack ? isMissingSkipped : isDatabaseLost)
      throw new UsageError('these flags do not belong together; see "sotto copy --help"')
    const text = await atRelay((relay) =>
      isTakenBack
        ? relay.takeCopyBack(environmentOf(flags), { isDatabaseLost })
        : relay.copyToPostgres(environmentOf(flags), { isMissingSkipped }, print),
    )
    print(text)
    return 0
  },
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
