// A store in a folder, for Node and Bun: one append-only file of changes, which is rewritten when it has
// grown.
import { randomBytes } from 'node:crypto'
import { copyFile, type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { asClientError, ClientError } from '../client-error.ts'
import { changesOf } from './device-changes.ts'
import { grantSlots } from './erasure-slots.ts'
import { decodeFile, encodeFile, encodeHeader, encodeWrite } from './file-log.ts'
import { openFileSlots } from './file-slots.ts'
import { type FolderLock, lockFolder } from './folder-lock.ts'
import { InMemoryReads } from './in-memory-reads.ts'
import { SCHEMA_VERSION } from './migrations.ts'
import type { StoreChange } from './records.ts'
import { syncFolder } from './sync-folder.ts'

const FILE = 'store.log'
const ERASURE_FILE = 'erasure.key'
const DAMAGED = `${FILE}.damaged-`
/** A header line that a crash cut short is smaller than this. */
const MAX_TORN_HEADER_BYTES = 256
/** The file is rewritten once it has this size and is this many times as large as after the last rewrite. */
const COMPACT_BYTES = 1024 * 1024
const COMPACT_FACTOR = 4

/** What a change removes from messages is in the file for this long, while the program runs. */
const REMOVED_WITHIN_MS = 3000
/** The pause after a rewriting that failed, such as on a full disk. */
const REMOVAL_RETRY_MS = 60_000

interface Waiting {
  readonly line: string
  /** Whether the data that it replaces must not stay in the file. */
  readonly rewrites: boolean
  /** Whether it must not stay in copies of a damaged file either. */
  readonly erasesCopies: boolean
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Changes after which the secrets that they replace must not stay in the folder. */
const ERASING: ReadonlySet<StoreChange['change']> = new Set(['clear', 'vault', 'vault_removed'])

/**
 * A store in a separate folder (0700; files 0600). A write resolves after `fdatasync`. Writes that arrive
 * during a sync share the next one. Opening drops a write that a crash cut short, and keeps every write
 * before it. A store of an older version is upgraded on opening, all at once.
 *
 * The store itself does not encrypt. The file holds messages in plain, and also the recovery phrase and the
 * session keys unless the client has `secrets`. When these are sealed, and when everything is cleared, the
 * file is rewritten at once, so that the old data does not stay in it. After messages were deleted or
 * retracted, it is rewritten within three seconds or on closing, and after a crash in the same way once it is
 * opened again. If that fails, such as on a full disk, the store goes on and tries again each minute. A
 * program cannot erase the blocks that the disk frees.
 *
 * A damaged file is copied beside the store, as `store.log.damaged-…`, before its good lines are kept. The
 * copy may be all that is left of an identity. It is removed when secrets are sealed, or everything is
 * cleared, while the store has an identity.
 */
export class FileStore extends InMemoryReads {
  readonly #path: string
  readonly #lock: FolderLock
  #file: FileHandle
  #bytes: number
  #compactedBytes: number
  #waiting: Waiting[] = []
  /** Runs from the first change whose removed content is still in the file. */
  #removal: NodeJS.Timeout | undefined
  #isRemovalDue = false
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
    grantSlots(this, { open: () => openFileSlots(join(dirname(path), ERASURE_FILE)) })
  }

  /**
   * Opens the store of a folder, and creates the folder if it does not exist.
   * @throws ClientError `STORE_LOCKED` while it is open, in this process or in another one, `STORE_FAILED` if
   *   it cannot be read.
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
      let isContentLeft = false
      for (const change of changes) {
        isContentLeft ||= store.#removesContent(change)
        store.state.apply(change)
      }
      if (damaged || (goodBytes === 0 && content.length > MAX_TORN_HEADER_BYTES)) {
        // Whole bad lines, or a file without a good line, are no interrupted write: the disk is damaged, or
        // another program wrote the file. The good lines are kept, and the damaged file is copied beside
        // them.
        await copyFile(path, join(folder, `${DAMAGED}${randomBytes(4).toString('hex')}`))
        await store.#compact()
      } else if (goodBytes === 0) {
        await file.truncate(0)
        await store.#append(encodeHeader())
        await syncFolder(folder)
      } else if (version < SCHEMA_VERSION) {
        await store.#compact()
      } else {
        if (goodBytes < content.length) {
          await file.truncate(goodBytes)
          await file.datasync()
        }
        if (isContentLeft) store.#removal = store.#removeAfter(REMOVED_WITHIN_MS)
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
    const rewrites = changes.some(({ change }) => ERASING.has(change))
    // Without an identity, a copy of a damaged file may hold the only one.
    const erasesCopies = rewrites && this.state.identity !== undefined
    for (const change of changes) {
      if (this.#removesContent(change)) this.#removal ??= this.#removeAfter(REMOVED_WITHIN_MS)
      this.state.apply(change)
    }
    const line = encodeWrite(changes)
    const written = new Promise<void>((resolve, reject) =>
      this.#waiting.push({ line, rewrites, erasesCopies, resolve, reject }),
    )
    this.#draining ??= this.#drain()
    return written
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#draining
    try {
      if (this.#removal && !this.#failure) await this.#compact()
    } catch (error) {
      throw asClientError(error, 'STORE_FAILED')
    } finally {
      clearTimeout(this.#removal)
      await this.#file.close()
      await this.#lock.release()
    }
  }

  async abandon(): Promise<void> {
    const reason = new ClientError('CLOSED', 'the store was abandoned')
    this.#failure ??= reason
    for (const waiting of this.#waiting.splice(0)) waiting.reject(reason)
    await this.close()
  }

  /** Whether content of a message that this change removes is in the file until the next rewriting. */
  #removesContent(change: StoreChange): boolean {
    switch (change.change) {
      case 'message_removed':
      case 'messages_removed':
      case 'offline_removed':
        return true
      case 'message_patch':
        return change.patch.text !== undefined
      case 'message': {
        const { conversationId, isMe, id, retracted } = change.message
        return retracted === true && this.state.findMessage(conversationId, isMe, id) !== undefined
      }
      default:
        return false
    }
  }

  #removeAfter(delayMs: number): NodeJS.Timeout {
    const remove = (): void => {
      this.#isRemovalDue = true
      this.#draining ??= this.#drain()
    }
    return setTimeout(remove, delayMs).unref()
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0 || this.#isRemovalDue) {
      const batch = this.#waiting
      const isRemovalDue = this.#isRemovalDue
      this.#waiting = []
      this.#isRemovalDue = false
      try {
        if (batch.some(({ rewrites }) => rewrites)) {
          if (batch.some(({ erasesCopies }) => erasesCopies)) await this.#removeDamaged()
          // The store was abandoned meanwhile, so its memory must not be written any more.
          if (this.#failure) throw this.#failure
          // The new file also contains the changes that arrived meanwhile, so these are written with it.
          batch.push(...this.#waiting)
          this.#waiting = []
          await this.#compact()
        } else if (!(isRemovalDue && (await this.#couldCompact())))
          await this.#append(batch.map(({ line }) => line).join(''))
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
    // Compacting writes what is in memory. If writes still wait, the memory is ahead of the file.
    if (this.#waiting.length > 0 || this.#failure) return
    if (this.#bytes < COMPACT_BYTES || this.#bytes < COMPACT_FACTOR * this.#compactedBytes) return
    // Without room for a second file, it is tried again once the file has grown as much again.
    if (!(await this.#couldCompact())) this.#compactedBytes = this.#bytes
  }

  /** Rewrites the file if that is possible. The old file is whole, so the store goes on without. */
  async #couldCompact(): Promise<boolean> {
    if (this.#failure) return false
    const hasRemoval = this.#removal !== undefined
    try {
      await this.#compact()
      return true
    } catch {
      if (hasRemoval) this.#removal ??= this.#removeAfter(REMOVAL_RETRY_MS)
      return false
    }
  }

  async #removeDamaged(): Promise<void> {
    const folder = dirname(this.#path)
    const copies = (await readdir(folder)).filter((name) => name.startsWith(DAMAGED))
    for (const copy of copies) await rm(join(folder, copy), { force: true })
  }

  // The new file is complete and synced before it replaces the old one, so a crash leaves one of the two.
  async #compact(): Promise<void> {
    clearTimeout(this.#removal)
    this.#removal = undefined
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
      await rm(next, { force: true })
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
