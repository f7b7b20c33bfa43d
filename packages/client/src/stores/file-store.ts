// A store in a folder: one append-only file of changes, each line with its checksum, rewritten when it has grown.
// The only file of the client that needs Node's file system; it runs in Node and Bun.
import { createHash, randomBytes } from 'node:crypto'
import { copyFile, type FileHandle, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { check } from '@sotto/protocol'
import * as v from 'valibot'
import { asClientError, ClientError } from '../client-error.ts'
import { type FolderLock, lockFolder } from './folder-lock.ts'
import { InMemoryReads } from './in-memory-reads.ts'
import { StoreChange } from './records.ts'

const FILE = 'store.log'
const HEADER = { format: 'sotto-client-store', version: 1 }
const CHECKSUM_CHARACTERS = 16
/** A first write torn by a crash leaves less than this. */
const MAX_TORN_HEADER_BYTES = 256
const CHANGES_PER_LINE = 200
/** The file is rewritten once it is this large and this many times what it was when last rewritten. */
const COMPACT_BYTES = 1024 * 1024
const COMPACT_FACTOR = 4

const Line = v.array(StoreChange)
const Header = v.object({ format: v.literal(HEADER.format), version: v.literal(HEADER.version) })

interface Waiting {
  readonly line: string
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * A store in a folder of its own (0700; files 0600). A write resolves after `fdatasync`; writes that arrive while one is
 * being synced share the next. A write torn by a crash is dropped as a whole on opening and costs nothing before it.
 * Nothing is encrypted: the recovery phrase and the messages lie in the file as they are.
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
      const { changes, goodBytes, damaged } = decodeFile(content)
      const store = new FileStore(path, lock, file, goodBytes)
      for (const change of changes) store.state.apply(change)
      if (damaged || (goodBytes === 0 && content.length > MAX_TORN_HEADER_BYTES)) {
        // Lines that fail their checksum with good ones after them, or a file without a good line: not a torn write but a
        // damaged disk, or not our file. What checks is kept, the file as it was stays beside it.
        await copyFile(path, `${path}.damaged-${randomBytes(4).toString('hex')}`)
        await store.#compact()
      } else if (goodBytes === 0) {
        await file.truncate(0)
        await store.#append(encodeLine(HEADER))
        await syncFolder(folder)
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
    const line = changes.length === 0 ? '' : encodeLine(changes)
    const written = new Promise<void>((resolve, reject) => this.#waiting.push({ line, resolve, reject }))
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

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      try {
        const lines = batch.map((waiting) => waiting.line).join('')
        if (lines !== '') await this.#append(lines)
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
    const bytes = Buffer.from(text)
    await this.#file.appendFile(bytes)
    await this.#file.datasync()
    this.#bytes += bytes.length
  }

  async #compactIfGrown(): Promise<void> {
    // Only while nothing waits: then what is in memory is what is in the file.
    if (this.#waiting.length > 0) return
    if (this.#bytes < COMPACT_BYTES || this.#bytes < COMPACT_FACTOR * this.#compactedBytes) return
    await this.#compact()
  }

  // The new file is whole and synced before it takes the old one's name, so a crash leaves one or the other.
  async #compact(): Promise<void> {
    const lines = [encodeLine(HEADER)]
    let group: StoreChange[] = []
    for (const change of this.state.changes()) {
      if (group.push(change) === CHANGES_PER_LINE) {
        lines.push(encodeLine(group))
        group = []
      }
    }
    if (group.length > 0) lines.push(encodeLine(group))
    const bytes = Buffer.from(lines.join(''))

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
    await syncFolder(join(this.#path, '..'))
  }
}

function encodeLine(value: unknown): string {
  const json = JSON.stringify(value)
  return `${checksum(json)} ${json}\n`
}

function checksum(json: string): string {
  return createHash('sha256').update(json).digest('hex').slice(0, CHECKSUM_CHARACTERS)
}

interface DecodedFile {
  readonly changes: StoreChange[]
  /** Where the last good line ends. */
  readonly goodBytes: number
  /** Whether a bad line comes before a good one. */
  readonly damaged: boolean
}

function decodeFile(content: Buffer): DecodedFile {
  const changes: StoreChange[] = []
  let goodBytes = 0
  let badLines = 0
  let damaged = false
  let start = 0
  for (let end = content.indexOf(10); end !== -1; end = content.indexOf(10, start)) {
    const json = checkedJson(content.toString('utf8', start, end))
    start = end + 1
    if (json === undefined) {
      badLines += 1
      continue
    }
    if (badLines > 0) damaged = true
    const isFirst = goodBytes === 0 && !damaged
    goodBytes = start
    const value: unknown = JSON.parse(json)
    if (isFirst) checkHeader(value)
    else changes.push(...check(Line, value))
  }
  return { changes, goodBytes: damaged ? content.length : goodBytes, damaged }
}

function checkHeader(value: unknown): void {
  if (v.is(Header, value)) return
  throw new ClientError('STORE_FAILED', 'the store was written by another version of this program')
}

function checkedJson(line: string): string | undefined {
  const json = line.slice(CHECKSUM_CHARACTERS + 1)
  return line[CHECKSUM_CHARACTERS] === ' ' && line.slice(0, CHECKSUM_CHARACTERS) === checksum(json)
    ? json
    : undefined
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
