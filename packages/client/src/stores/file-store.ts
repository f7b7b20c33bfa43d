// A store in a folder: one append-only file of changes, each line with its checksum, rewritten when it has grown.
// The only file of the client that needs Node's file system; it runs in Node and Bun.
import { randomBytes } from 'node:crypto'
import { copyFile, type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { asClientError, ClientError } from '../client-error.ts'
import { changesOf } from './device-changes.ts'
import { decodeFile, encodeFile, encodeHeader, encodeWrite } from './file-log.ts'
import { type FolderLock, lockFolder } from './folder-lock.ts'
import { InMemoryReads } from './in-memory-reads.ts'
import { SCHEMA_VERSION } from './migrations.ts'
import type { StoreChange } from './records.ts'

const FILE = 'store.log'
const DAMAGED = `${FILE}.damaged-`
/** A first write torn by a crash leaves less than this. */
const MAX_TORN_HEADER_BYTES = 256
/** The file is rewritten once it is this large and this many times what it was when last rewritten. */
const COMPACT_BYTES = 1024 * 1024
const COMPACT_FACTOR = 4

interface Waiting {
  readonly line: string
  /** Whether what it replaces must not stay in the file. */
  readonly erases: boolean
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Changes for which the file is written anew: what they replace is not to lie in it any longer. */
const REWRITING: ReadonlySet<StoreChange['change']> = new Set(['clear', 'vault', 'vault_removed'])

/**
 * A store in a folder of its own (0700; files 0600). A write resolves after `fdatasync`; writes that arrive while one is
 * being synced share the next. A write torn by a crash is dropped as a whole on opening and costs nothing before it. A
 * store of an older version is brought up to date on opening, in one go.
 *
 * The store itself encrypts nothing: what it is given lies in the file as it is, the messages always, and the recovery
 * phrase and session keys unless the client that uses it was given `secrets`. When these are sealed, and when everything
 * is cleared, the file is written anew, so that nothing of what it held stays in it; what the disk keeps of freed blocks
 * is beyond a program.
 */
export class FileStore extends InMemoryReads {
  readonly #path: string
  readonly #lock: FolderLock
  #file: FileHandle
  #bytes: number
  #compactedBytes: number
  #waiting: Waiting[] = []
  #draining: Promise<void> | undefined
  #failure: ClientError | undefined
  #closed = false

  private constructor(path: string, lock: FolderLock, file: FileHandle, bytes: number) {
    super()
    this.#path = path
    this.#lock = lock
    this.#file = file
    this.#bytes = bytes
    this.#compactedBytes = bytes
  }

  /**
   * Opens the store of a folder, which is made if it is not there.
   * @throws ClientError `STORE_LOCKED` while another process has it open, `STORE_FAILED` if it cannot be read.
   */
  static async open(folder: string): Promise<FileStore> {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const lock = await lockFolder(folder)
      try {
        return await FileStore.#load(join(folder, FILE), folder, lock)
      } catch (error) {
        await lock.release()
        throw error
      }
    } catch (error) {
      throw asClientError(error, 'STORE_FAILED')
    }
  }

  static async #load(path: string, folder: string, lock: FolderLock): Promise<FileStore> {
    const file = await open(path, 'a+', 0o600)
    try {
      const content = await readFile(path)
      const { changes, version, goodBytes, damaged } = decodeFile(content)
      const store = new FileStore(path, lock, file, goodBytes)
      for (const change of changes) store.state.apply(change)
      if (damaged || (goodBytes === 0 && content.length > MAX_TORN_HEADER_BYTES)) {
        // Lines that fail their checksum with good ones after them, or a file without a good line: not a torn write but a
        // damaged disk, or not our file. What checks is kept, the file as it was stays beside it.
        await copyFile(path, join(folder, `${DAMAGED}${randomBytes(4).toString('hex')}`))
        await store.#compact()
      } else if (goodBytes === 0) {
        await file.truncate(0)
        await store.#append(encodeHeader())
        await syncFolder(folder)
      } else if (version < SCHEMA_VERSION) {
        await store.#compact()
      } else if (goodBytes < content.length) {
        await file.truncate(goodBytes)
        await file.datasync()
      }
      return store
    } catch (error) {
      await file.close()
      throw error
    }
  }

  write(changes: readonly StoreChange[]): Promise<void> {
    if (this.#closed) return Promise.reject(new ClientError('CLOSED', 'the store is closed'))
    if (this.#failure) return Promise.reject(this.#failure)
    for (const change of changes) this.state.apply(change)
    const line = encodeWrite(changes)
    const erases = changes.some(({ change }) => REWRITING.has(change))
    const written = new Promise<void>((resolve, reject) =>
      this.#waiting.push({ line, erases, resolve, reject }),
    )
    this.#draining ??= this.#drain()
    return written
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#draining
    await this.#file.close()
    await this.#lock.release()
  }

  async abandon(): Promise<void> {
    const reason = new ClientError('CLOSED', 'the store was given up')
    this.#failure ??= reason
    for (const waiting of this.#waiting.splice(0)) waiting.reject(reason)
    await this.close()
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      try {
        if (batch.some(({ erases }) => erases)) {
          await this.#removeDamaged()
          // Given up meanwhile: what is in memory is no longer what is to be written.
          if (this.#failure) throw this.#failure
          // What has been written to memory meanwhile is in the new file as well, and so written.
          batch.push(...this.#waiting)
          this.#waiting = []
          await this.#compact()
        } else await this.#append(batch.map(({ line }) => line).join(''))
        for (const waiting of batch) waiting.resolve()
        await this.#compactIfGrown()
      } catch (error) {
        this.#failure = asClientError(error, 'STORE_FAILED')
        for (const waiting of [...batch, ...this.#waiting]) waiting.reject(this.#failure)
        this.#waiting = []
      }
    }
    this.#draining = undefined
  }

  async #append(text: string): Promise<void> {
    if (text === '') return
    const bytes = Buffer.from(text)
    await this.#file.appendFile(bytes)
    await this.#file.datasync()
    this.#bytes += bytes.length
  }

  async #compactIfGrown(): Promise<void> {
    // Only while nothing waits: then what is in memory is what is in the file.
    if (this.#waiting.length > 0 || this.#failure) return
    if (this.#bytes < COMPACT_BYTES || this.#bytes < COMPACT_FACTOR * this.#compactedBytes) return
    await this.#compact()
  }

  async #removeDamaged(): Promise<void> {
    const folder = dirname(this.#path)
    const copies = (await readdir(folder)).filter((name) => name.startsWith(DAMAGED))
    for (const copy of copies) await rm(join(folder, copy), { force: true })
  }

  // The new file is whole and synced before it takes the old one's name, so a crash leaves one or the other.
  async #compact(): Promise<void> {
    const bytes = Buffer.from(encodeFile(changesOf(this.state)))

    const next = `${this.#path}.next`
    await rm(next, { force: true })
    const file = await open(next, 'ax', 0o600)
    try {
      await file.appendFile(bytes)
      await file.datasync()
      await rename(next, this.#path)
    } catch (error) {
      await file.close()
      throw error
    }
    const old = this.#file
    this.#file = file
    this.#bytes = bytes.length
    this.#compactedBytes = bytes.length
    await old.close()
    await syncFolder(dirname(this.#path))
  }
}

async function syncFolder(folder: string): Promise<void> {
  // Makes the name itself durable. Some systems do not let a folder be opened; there it is so without.
  try {
    const handle = await open(folder, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch {}
}
