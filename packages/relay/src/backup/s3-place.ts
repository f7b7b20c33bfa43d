// A bucket of an S3-compatible store as the place of files: `s3://BUCKET` or `s3://BUCKET/FOLDER`.
import { S3Client } from 'bun'
import type { BackupBucketConfig } from '../operations/backup-settings.ts'
import { AbsentFile, BackupError } from './backup-error.ts'
import type { BackupPlace, Pieces } from './backup-place.ts'

const PATH = /^s3:\/\/(?<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(?<folder>.*))?$/
/** A store takes at most 10,000 parts, so a file has at most 160 GiB. Two parts are in memory. */
const PART_BYTES = 16 * 1024 * 1024

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
  /** The bytes of each file; undefined until the bucket was listed. */
  #sizes: Map<string, number> | undefined

  /** @throws BackupError if the path has another form, or a setting is missing */
  constructor(path: string, { endpoint, region, accessKey, secretKey }: BackupBucketConfig) {
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

  async sizeOf(file: string): Promise<number | undefined> {
    return (await this.#listed()).get(file)
  }

  async *read(file: string): Pieces {
    try {
      for await (const piece of this.#client.file(this.#prefix + file).stream()) yield piece
    } catch (error) {
      throw this.#explained(error, `cannot read ${this.pathOf(file)}`)
    }
  }

  // To end a writer would complete the object, so one that failed is not ended: its parts stay unnamed.
  async write(file: string, pieces: Pieces): Promise<void> {
    const writer = this.#client
      .file(this.#prefix + file)
      .writer({ partSize: PART_BYTES, queueSize: 2, retry: 2 })
    let bytes = 0
    try {
      for await (const piece of pieces) {
        writer.write(piece)
        await writer.flush()
        bytes += piece.byteLength
      }
      await writer.end()
    } catch (error) {
      throw this.#explained(error, `cannot write ${this.pathOf(file)}`)
    }
    this.#sizes?.set(file, bytes)
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
    try {
      for (let after: string | undefined = ''; after !== undefined; ) {
        const from = after === '' ? {} : { startAfter: after }
        const { contents = [], isTruncated } = await this.#client.list({ prefix: this.#prefix, ...from })
        for (const { key, size = 0 } of contents) sizes.set(key.slice(this.#prefix.length), size)
        after = isTruncated ? contents.at(-1)?.key : undefined
      }
    } catch (error) {
      throw this.#explained(error, `cannot read ${this.#path}`)
    }
    this.#sizes = sizes
    return sizes
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
