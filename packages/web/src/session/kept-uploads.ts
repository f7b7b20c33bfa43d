// Keeps what is being sent until it is sent: a record in the client's store, and the file as the relay gets
// it, encrypted, in the browser's private file system.
import { AppData, type Client, type Media, type Spool } from '@sotto/client'
import { UPLOADS, type UploadRecord } from './sendable.ts'

const FOLDER = 'sotto-uploads'
/** The most bytes that are kept in all. A file beyond that has to be chosen again after a reload. */
const MOST_BYTES = 512 * 1024 * 1024

/** What is kept of uploads. */
export class KeptUploads {
  readonly #data: AppData

  constructor(client: Client) {
    this.#data = new AppData(client)
  }

  /** In the order in which they were added. @throws ClientError as `AppData` does */
  async list(): Promise<readonly UploadRecord[]> {
    const records = await this.#data.list(UPLOADS)
    return records.flatMap(({ value }) => {
      const record: unknown = JSON.parse(value)
      return isRecord(record) ? [record] : []
    })
  }

  /** @throws ClientError as `AppData` does */
  async put(record: UploadRecord): Promise<void> {
    await this.#data.set(nameOf(record), JSON.stringify(record))
  }

  /** Deletes the record and its file. @throws ClientError as `AppData` does */
  async delete(record: UploadRecord): Promise<void> {
    await this.#data.set(nameOf(record), undefined)
    const folder = await uploadsFolder()
    await folder?.removeEntry(record.id).catch(ignoreMissing)
  }

  /**
   * Encrypts a file for its contact, and keeps that. Undefined if this browser or this disk has no room for
   * it. @throws ClientError as `Media.seal` does
   */
  async seal(
    media: Media,
    { id, conversationId }: UploadRecord,
    source: Blob,
    signal: AbortSignal,
  ): Promise<Blob | undefined> {
    const folder = await uploadsFolder()
    if (!folder || (await sizeOf(folder)) + source.size > MOST_BYTES) return undefined
    try {
      const handle = await folder.getFileHandle(id, { create: true })
      return await media.seal(conversationId, source, { into: await intoKept(handle), signal })
    } catch (error) {
      if (isNamed(error, 'QuotaExceededError')) return undefined
      throw error
    }
  }

  /** The encrypted file of a record, if it is there. */
  async fileOf({ id }: UploadRecord): Promise<Blob | undefined> {
    const folder = await uploadsFolder()
    const handle = await folder?.getFileHandle(id).catch(ignoreMissing)
    const file = await handle?.getFile()
    // A file that was being written when the page ended has nothing in it yet.
    return file && file.size > 0 ? file : undefined
  }

  /** Deletes files that no record names. @throws ClientError as `AppData` does */
  async sweep(): Promise<void> {
    const folder = await uploadsFolder()
    if (!folder) return
    const names: string[] = []
    for await (const name of folder.keys()) names.push(name)
    // Read after the files: another tab stores the record of an upload before its file.
    const records = await this.list()
    for (const name of names)
      if (records.every(({ id }) => id !== name)) await folder.removeEntry(name).catch(ignoreMissing)
  }
}

function nameOf({ addedAt, id }: UploadRecord): string {
  return `${UPLOADS}${String(addedAt).padStart(16, '0')}-${id}`
}

function isRecord(value: unknown): value is UploadRecord {
  return typeof value === 'object' && value !== null && 'id' in value && 'conversationId' in value
}

/** Undefined if the browser has no such files, or the user does not allow them. */
async function uploadsFolder(): Promise<FileSystemDirectoryHandle | undefined> {
  if (typeof FileSystemFileHandle === 'undefined' || !('createWritable' in FileSystemFileHandle.prototype))
    return undefined
  try {
    const root = await navigator.storage.getDirectory()
    return await root.getDirectoryHandle(FOLDER, { create: true })
  } catch (error) {
    if (isNamed(error, 'SecurityError')) return undefined
    throw error
  }
}

async function sizeOf(folder: FileSystemDirectoryHandle): Promise<number> {
  let bytes = 0
  for await (const handle of folder.values())
    if (handle instanceof FileSystemFileHandle) bytes += (await handle.getFile()).size
  return bytes
}

/** The file has its content once all of it is written. */
async function intoKept(handle: FileSystemFileHandle): Promise<Spool<Blob>> {
  const stream = await handle.createWritable()
  let isClosed = false
  return {
    write: (bytes) => stream.write(bytes),
    finish: async () => {
      isClosed = true
      await stream.close()
      return handle.getFile()
    },
    discard: async () => {
      if (!isClosed) await stream.abort()
    },
  }
}

function ignoreMissing(error: unknown): undefined {
  if (!isNamed(error, 'NotFoundError')) throw error
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof DOMException && error.name === name
}
