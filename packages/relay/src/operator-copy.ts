// What `sotto copy` does: moves an embedded store into PostgreSQL, and takes that back.
import { moveNumbersAhead } from './backup/restore.ts'
import type { Config } from './config.ts'
import { BlobStoreError } from './media/blob-store.ts'
import { nameMediaStore, openBlobStore } from './media/media.ts'
import { systemClock as clock } from './operations/clock.ts'
import { systemRandom as randomBytes } from './operations/random.ts'
import { configOf, explained, OperatorError } from './operator.ts'
import { openPostgresBeside } from './storage/postgres.ts'
import { checkCommitsAreSynced } from './storage/postgres-settings.ts'
import { openSqlite, openSqliteBeside, StorageInUse, StorageMissing } from './storage/sqlite.ts'
import type { Storage } from './storage/storage.ts'
import { CopyError } from './store-copy/copy-error.ts'
import { copyStore, takeBack } from './store-copy/copy-store.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Copies the embedded store into the PostgreSQL of DATABASE_URL, or goes on with a copy that was cut off.
 * Media go into the bucket of the settings, if there is one.
 * @param how.isMissingSkipped whether blobs that are nowhere are left out
 * @param tell gets the lines of progress
 * @returns the text for the terminal
 * @throws OperatorError if a relay runs, the target is not empty, or a side cannot be used
 */
export async function copyToPostgres(
  environment: Environment,
  how: { isMissingSkipped: boolean },
  tell: (line: string) => void,
): Promise<string> {
  const config = configOf(environment)
  const { databaseUrl, dataDir } = config
  if (databaseUrl === undefined)
    throw new OperatorError('DATABASE_URL is not set; it names the empty PostgreSQL database to copy into')
  return await withSource(config, async (source) => {
    await using target = closing(openPostgresBeside(databaseUrl, { connections: 2 }))
    await checkCommitsAreSynced(target.storage.sql)
    // Also without a bucket, so that the next call may have one.
    await nameMediaStore({ storage: source, randomBytes })
    const bucket =
      config.media.kind === 's3'
        ? await openBlobStore(config, { storage: source, clock, randomBytes })
        : undefined
    const media = { folder: folderOf(config), bucket }
    const copied = await copyStore({
      ...{ dataDir, source, target: target.storage, media, tell },
      needsAllMedia: !how.isMissingSkipped,
      newId: Buffer.from(randomBytes(16)).toString('hex'),
    })
    const next = 'Start the relay with this DATABASE_URL.'
    if (!copied) return `This store was copied into this PostgreSQL before. ${next}`
    const rows = copied.rows.toLocaleString('en-US')
    return `Copied ${rows} rows, and compared them. ${describeMedia(config, copied)}
${next} ${dataDir}/sotto.db stays as it is, and no relay starts on it any more.`
  })
}

/**
 * Makes the embedded store usable again, and the copy of it unusable.
 * @param how.isDatabaseLost whether the copy no longer exists
 * @returns the text for the terminal
 * @throws OperatorError if the store was not copied, or the copy cannot be found
 */
export async function takeCopyBack(
  environment: Environment,
  { isDatabaseLost }: { isDatabaseLost: boolean },
): Promise<string> {
  const config = configOf(environment)
  const { databaseUrl } = config
  if (databaseUrl === undefined && !isDatabaseLost)
    throw new OperatorError(
      'DATABASE_URL is not set, but the copy must be made unusable; if it no longer exists, say so with --database-lost',
    )
  return await withSource(config, async (source) => {
    await using target =
      databaseUrl === undefined || isDatabaseLost
        ? undefined
        : closing(openPostgresBeside(databaseUrl, { connections: 2 }))
    const wasFinished = await takeBack(source, target?.storage, () => moveNumbersAhead(source))
    const lost = wasFinished ? ' It has nothing of what reached the relay in PostgreSQL since.' : ''
    return `The store in ${config.dataDir} can be used again.${lost}`
  })
}

async function withSource<T>(config: Config, work: (source: Storage) => Promise<T>): Promise<T> {
  try {
    // Fails if the folder contains no store. openSqlite would create an empty one.
    await (await openSqliteBeside(config.dataDir)).close()
    await using source = closing(await openSqlite(config.dataDir, 'copy'))
    return await work(source.storage)
  } catch (error) {
    if (error instanceof StorageInUse) throw new OperatorError(`${error.message}; stop it first`)
    if (error instanceof StorageMissing || error instanceof CopyError) throw new OperatorError(error.message)
    if (error instanceof BlobStoreError) throw new OperatorError(`media cannot be copied: ${reasonOf(error)}`)
    throw explained(error, config)
  }
}

function closing(storage: Storage): AsyncDisposable & { readonly storage: Storage } {
  return { storage, [Symbol.asyncDispose]: () => storage.close() }
}

function reasonOf({ message, cause }: Error): string {
  return cause instanceof Error ? `${message}: ${cause.message}` : message
}

function folderOf({ media, dataDir }: Config): string {
  return media.folder ?? `${dataDir}/media`
}

function describeMedia(
  config: Config,
  { blobs, put, missing }: { blobs: number; put: number; missing: number },
): string {
  const left = missing > 0 ? ` Blobs that are missing: ${missing}.` : ''
  if (config.media.kind === 's3')
    return `Blobs of media: ${blobs}, of which ${put} were put into the bucket now.${left}`
  return `Blobs of media: ${blobs}; they stay in ${folderOf(config)}, which every node needs as its MEDIA_DIR.${left}`
}
