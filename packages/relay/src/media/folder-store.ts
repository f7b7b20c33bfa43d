// Blobs in a folder. Each blob is one file, with a folder beside it during its upload. Parts that arrive in
// order, as clients send them, are appended to one file, called a run. The run becomes the blob by a rename.
// Any other part has a separate file until all parts are copied into one. Bytes that were acknowledged are
// never overwritten (docs/decisions/0012-media.md).
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type BlobStore,
  BlobStoreError,
  type ByteRange,
  type Completion,
  type IncomingBytes,
  type ObjectBatch,
  type StoredBlob,
  type StoredPart,
  type UploadPlace,
} from './blob-store.ts'
import { freeNow } from './incoming.ts'

const COPY_BYTES = 1024 * 1024
const NAME = /^(?<object>[0-9a-f]{32})(?:\.parts)?$/

/**
 * Opens the store in `folder`, and creates the folder if needed.
 * @param mostBytes the maximum size of a blob
 */
export async function openFolderStore(folder: string, mostBytes: number): Promise<BlobStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return new FolderStore(folder, mostBytes)
}

class FolderStore implements BlobStore {
  readonly #root: string
  readonly #mostBytes: number
  /**
   * The runs that this process began. It never continues another process's run, so that no two processes
   * write to one.
   */
  readonly #runs = new Map<string, Run>()

  constructor(root: string, mostBytes: number) {
    this.#root = root
    this.#mostBytes = mostBytes
  }

  begin(object: string): Promise<string> {
    return withStoreErrors(async () => {
      await mkdir(this.#partsOf(object), { recursive: true, mode: 0o700 })
      return ''
    })
  }

  async writePart(
    { object }: UploadPlace,
    { number, version }: { number: number; version: string },
    body: IncomingBytes,
  ): Promise<{ etag: string; bytes: number }> {
    const { name, at, etag } = this.#placeFor(object, number, version, body.length)
    const file = join(this.#partsOf(object), name)
    const handle = await withStoreErrors(() => open(file, constants.O_WRONLY | constants.O_CREAT, 0o600))
    try {
      return { etag, bytes: await writeAll(handle, at, body) }
    } catch (error) {
      if (etag === version) await unlinkIfExists(file)
      throw error
    } finally {
      await handle.close()
    }
  }

  // Removes only parts with a separate file. The bytes of a part in a run stay until the upload ends.
  dropPart({ object }: UploadPlace, part: { number: number; etag: string }): Promise<void> {
    return withStoreErrors(() => unlinkIfExists(join(this.#partsOf(object), fileOf(part.number, part.etag))))
  }

  complete({ object }: UploadPlace, parts: readonly StoredPart[], version: string): Promise<Completion> {
    return withStoreErrors(async () => {
      const whole = this.#fileOf(object)
      const isComplete = async (): Promise<boolean> => (await sizeIfExists(whole)) !== undefined
      if (await isComplete()) {
        // Another request may have renamed it and crashed, or not have synced yet, so the name may not be on
        // stable storage.
        await this.#syncFoldersOf(object)
        return 'done'
      }
      const isJoined = await this.#join(object, parts, version).catch((error) => {
        if (isMissing(error)) return false
        throw error
      })
      // Another request may have completed it meanwhile and removed the parts.
      if (!isJoined) return (await isComplete()) ? 'done' : 'changed'
      await this.#syncFoldersOf(object)
      await this.tidy(object)
      return 'done'
    })
  }

  read({ object, bytes }: StoredBlob, { from, to }: ByteRange): Promise<Blob> {
    return withStoreErrors(async () => {
      const file = this.#fileOf(object)
      // The file may be longer: a part that was still being written at completion may follow the blob's
      // bytes.
      if ((await stat(file)).size < bytes) throw new Error('a blob’s file is shorter than the blob')
      return Bun.file(file).slice(from, to + 1)
    })
  }

  remove(object: string): Promise<void> {
    return withStoreErrors(async () => {
      await unlinkIfExists(this.#fileOf(object))
      await this.tidy(object)
    })
  }

  tidy(object: string): Promise<void> {
    this.#runs.delete(object)
    return withStoreErrors(() => rm(this.#partsOf(object), { recursive: true, force: true }))
  }

  /** Each batch is one of the 256 folders that objects are spread over. */
  list(after: string | undefined): Promise<ObjectBatch> {
    return withStoreErrors(async () => {
      const shards = (await readdir(this.#root)).filter((name) => /^[0-9a-f]{2}$/.test(name)).toSorted()
      const shard = shards.find((name) => after === undefined || name > after)
      if (shard === undefined) return { objects: [], next: undefined }
      const objects: { object: string; modifiedAt: number }[] = []
      for (const name of await readdir(join(this.#root, shard))) {
        const object = NAME.exec(name)?.groups?.object
        if (object === undefined) continue
        const { mtimeMs } = await stat(join(this.#root, shard, name))
        objects.push({ object, modifiedAt: mtimeMs })
      }
      return { objects, next: shard }
    })
  }

  // A part is appended to the run if it has the next number and a known length. Each number gets at most one
  // place in the run. A part that is repeated or arrives out of order gets a separate file. Bytes of a part
  // that was cut off or replaced stay in the run but no longer count for the account. So the run itself is
  // limited to the maximum size of a blob.
  #placeFor(
    object: string,
    number: number,
    version: string,
    length: number | undefined,
  ): { name: string; at: number; etag: string } {
    const run = this.#runs.get(object) ?? { name: `run_${version}`, next: 1, end: 0 }
    if (length === undefined || number !== run.next || run.end + length > this.#mostBytes) {
      return { name: fileOf(number, version), at: 0, etag: version }
    }
    const at = run.end
    this.#runs.set(object, { name: run.name, next: number + 1, end: at + length })
    return { name: run.name, at, etag: `${run.name}-${at}` }
  }

  /** @returns false if a power cut made a part shorter */
  async #join(object: string, parts: readonly StoredPart[], version: string): Promise<boolean> {
    const slices: Slice[] = []
    for (const { part_number, etag, bytes } of parts) {
      const { name, at } = /^(?<name>run_[\w-]+)-(?<at>\d+)$/.exec(etag)?.groups ?? {}
      const slice = {
        file: join(this.#partsOf(object), name ?? fileOf(part_number, etag)),
        at: Number(at ?? 0),
        bytes,
      }
      if ((await stat(slice.file)).size < slice.at + bytes) return false
      slices.push(slice)
    }
    const run = commonFileOf(slices)
    const joined = run ?? join(this.#partsOf(object), `whole.${version}`)
    await (run === undefined ? joinSlices(slices, joined) : syncFile(joined))
    await rename(joined, this.#fileOf(object))
    return true
  }

  #fileOf(object: string): string {
    return join(this.#root, object.slice(0, 2), object)
  }

  #partsOf(object: string): string {
    return `${this.#fileOf(object)}.parts`
  }

  // A file's name is on stable storage once its folder is synced, and the folder's name once its parent is
  // synced.
  async #syncFoldersOf(object: string): Promise<void> {
    await syncFile(join(this.#root, object.slice(0, 2)))
    await syncFile(this.#root)
  }
}

/** A file that parts are appended to. */
interface Run {
  readonly name: string
  /** The number of the part that may be appended next. */
  readonly next: number
  readonly end: number
}

/** The place of a part: its file, offset and length. */
interface Slice {
  readonly file: string
  readonly at: number
  readonly bytes: number
}

/** The one file that begins with exactly these slices; undefined if there is none. */
function commonFileOf(slices: readonly Slice[]): string | undefined {
  let end = 0
  for (const { file, at, bytes } of slices) {
    if (file !== slices[0]?.file || at !== end) return undefined
    end += bytes
  }
  return slices[0]?.file
}

async function writeAll(handle: FileHandle, at: number, body: IncomingBytes): Promise<number> {
  let bytes = 0
  for await (const piece of body.pieces) {
    await withStoreErrors(() => writePiece(handle, piece, at + bytes))
    bytes += piece.byteLength
    freeNow(piece)
  }
  return bytes
}

async function writePiece(handle: FileHandle, piece: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < piece.byteLength; ) {
    done += (await handle.write(piece, done, piece.byteLength - done, at + done)).bytesWritten
  }
}

async function joinSlices(slices: readonly Slice[], target: string): Promise<void> {
  const out = await open(target, 'wx', 0o600)
  try {
    const buffer = Buffer.allocUnsafeSlow(COPY_BYTES)
    let end = 0
    for (const { file, at, bytes } of slices) {
      const input = await open(file, constants.O_RDONLY)
      try {
        for (let done = 0; done < bytes; ) {
          const { bytesRead } = await input.read(buffer, 0, Math.min(COPY_BYTES, bytes - done), at + done)
          if (bytesRead === 0) throw new Error('a part is shorter than it was')
          await writePiece(out, buffer.subarray(0, bytesRead), end)
          done += bytesRead
          end += bytesRead
        }
      } finally {
        await input.close()
      }
    }
    await out.sync()
  } catch (error) {
    await unlinkIfExists(target)
    throw error
  } finally {
    await out.close()
  }
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function sizeIfExists(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

async function unlinkIfExists(file: string): Promise<void> {
  await unlink(file).catch((error) => {
    if (!isMissing(error)) throw error
  })
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

async function withStoreErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof BlobStoreError) throw cause
    throw new BlobStoreError('the media folder cannot be used', { cause })
  }
}

function fileOf(number: number, version: string): string {
  return `${number}.${version}`
}
