// A bucket of an S3-compatible store as the place of files: `s3://BUCKET` or `s3://BUCKET/FOLDER`.
import { S3Client } from 'bun'
import type { BackupBucketConfig } from '../operations/backup-settings.ts'
import { within } from '../operations/within.ts'
import { AbsentFile, BackupError } from './backup-error.ts'
import type { BackupPlace, Pieces } from './backup-place.ts'

const PATH = /^s3:\/\/(?<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(?<folder>.*))?$/
/** A store takes at most 10,000 parts, so a file has at most 160 GiB. Two parts are in memory. */
const PART_BYTES = 16 * 1024 * 1024
/** A part is sent in this time at 56 kB/s. */
const STEP_WITHIN_MS = 300_000

/** Whether a path names a bucket and not a folder. */
export function isBucketPath(path: string): boolean {
  return path.startsWith('s3://')
}

/** A folder of a bucket. A file is there once all of it was sent. */
export class S3Place implements BackupPlace {
  readonly #path: string
  readonly #prefix: string
  readonly #endpoint: string
  readonly #client: S3Client
  readonly #stepWithinMs: number
  /** The bytes of each file; undefined until the bucket was listed. */
  #sizes: Map<string, number> | undefined

  /**
   * @param stepWithinMs the time limit for each step: a page of the list, a piece that is read, a part that
   * is sent. All of a file may take longer.
   * @throws BackupError if the path has another form, or a setting is missing
   */
  constructor(
    path: string,
    { endpoint, region, accessKey, secretKey }: BackupBucketConfig,
    stepWithinMs: number = STEP_WITHIN_MS,
  ) {
    this.#stepWithinMs = stepWithinMs
    this.#path = path.replace(/\/+$/, '')
    const { bucket, folder } = PATH.exec(this.#path)?.groups ?? {}
    if (bucket === undefined) throw new BackupError(`${path} names no bucket, such as s3://backups/sotto`)
    if (endpoint === '' || accessKey === '' || secretKey === '')
      throw new BackupError(
        `${path} needs the settings BACKUP_S3_ENDPOINT, BACKUP_S3_ACCESS_KEY and BACKUP_S3_SECRET_KEY`,
      )
    this.#prefix = folder === undefined ? '' : `${folder}/`
    this.#endpoint = endpoint
    const keys = { accessKeyId: accessKey, secretAccessKey: secretKey }
    this.#client = new S3Client({ bucket, endpoint, region, ...keys })
  }

  [Symbol.dispose](): void {
    // Nothing stays open.
  }

  async list(): Promise<string[]> {
    return Array.from((await this.#listed()).keys()).filter((file) => !file.includes('/'))
  }

  async listAll(): Promise<string[]> {
    this.#sizes = undefined
    return [...(await this.#listed()).keys()]
  }

  async sizeOf(file: string): Promise<number | undefined> {
    return (await this.#listed()).get(file)
  }

  async *read(file: string): Pieces {
    const failure = `cannot read ${this.pathOf(file)}`
    const reader = this.#client
      .file(this.#prefix + file)
      .stream()
      .getReader()
    try {
      for (;;) {
        const { done, value } = await this.#step(failure, reader.read())
        if (done) return
        yield value
      }
    } finally {
      // Not awaited, because the store may be silent.
      reader.cancel().catch(() => undefined)
    }
  }

  // To end a writer would complete the object, so one that failed is not ended: its parts stay unnamed.
  async write(file: string, pieces: Pieces): Promise<void> {
    const failure = `cannot write ${this.pathOf(file)}`
    const writer = this.#client
      .file(this.#prefix + file)
      .writer({ partSize: PART_BYTES, queueSize: 2, retry: 2 })
    let bytes = 0
    for await (const piece of pieces) {
      writer.write(piece)
      await this.#step(failure, writer.flush())
      bytes += piece.byteLength
    }
    await this.#step(failure, writer.end())
    this.#sizes?.set(file, bytes)
  }

  async remove(file: string): Promise<void> {
    try {
      const removing = this.#client.delete(this.#prefix + file)
      await this.#step(`cannot remove ${this.pathOf(file)}`, removing)
    } catch (error) {
      if (!(error instanceof AbsentFile)) throw error
    }
    this.#sizes?.delete(file)
  }

  async flush(): Promise<void> {
    // The store keeps what it has acknowledged.
  }

  pathOf(file: string): string {
    return `${this.#path}/${file}`
  }

  async #listed(): Promise<Map<string, number>> {
    if (this.#sizes) return this.#sizes
    const sizes = new Map<string, number>()
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page = { prefix: this.#prefix, ...(after === '' ? {} : { startAfter: after }) }
      const listing = this.#client.list(page)
      const { contents = [], isTruncated } = await this.#step(`cannot read ${this.#path}`, listing)
      for (const { key, size = 0 } of contents) sizes.set(key.slice(this.#prefix.length), size)
      after = isTruncated ? contents.at(-1)?.key : undefined
    }
    this.#sizes = sizes
    return sizes
  }

  // The client has no time limits of its own.
  async #step<T>(failure: string, work: T | Promise<T>): Promise<T> {
    try {
      const step = Promise.resolve(work)
      if (await within(this.#stepWithinMs, step)) return await step
    } catch (error) {
      throw this.#explained(error, failure)
    }
    throw new BackupError(
      `${failure}: ${this.#endpoint} did not answer within ${this.#stepWithinMs / 1000} seconds`,
    )
  }

  // Of the store's answer only the code, such as `SignatureDoesNotMatch`: the rest may quote what was signed.
  #explained(error: unknown, failure: string): unknown {
    if (!(error instanceof Error && error.name === 'S3Error' && 'code' in error)) return error
    const reason = `${failure}: ${error.code} at ${this.#endpoint}`
    return error.code === 'NoSuchKey'
      ? new AbsentFile(reason, { cause: error })
      : new BackupError(reason, { cause: error })
  }
}
