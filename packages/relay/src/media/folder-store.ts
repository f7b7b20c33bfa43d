// Blobs in a folder: one file each, and while it is uploaded a folder beside it. Parts that come in order, as clients send them,
// are written one behind the other into one file, a run, which becomes the blob by its name alone; any other part has a file
// of its own until all are copied into one. No byte that was acknowledged is ever written over (docs/decisions/0012-media.md).
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type BlobStore,
  BlobStoreError,
  type ByteRange,
  type Completion,
  type IncomingBytes,
  type ObjectPage,
  type StoredBlob,
  type StoredPart,
  type UploadPlace,
} from './blob-store.ts'
import { freeNow } from './incoming.ts'

const COPY_BYTES = 1024 * 1024
const NAME = /^(?<object>[0-9a-f]{32})(?:\.parts)?$/

/**
 * Opens the store in `folder`, which it makes if needed.
 * @param mostBytes the most one blob may have
 */
export async function openFolderStore(folder: string, mostBytes: number): Promise<BlobStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return new FolderStore(folder, mostBytes)
}

class FolderStore implements BlobStore {
  readonly #root: string
  readonly #mostBytes: number
  /** The runs this process has begun; it goes on with no other, so that no two processes write to one. */
  readonly #runs = new Map<string, Run>()

  constructor(root: string, mostBytes: number) {
    this.#root = root
    this.#mostBytes = mostBytes
  }

  begin(object: string): Promise<string> {
    return failing(async () => {
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
    const handle = await failing(() => open(file, constants.O_WRONLY | constants.O_CREAT, 0o600))
    try {
      return { etag, bytes: await writeAll(handle, at, body) }
    } catch (error) {
      if (etag === version) await unlinkIfThere(file)
      throw error
    } finally {
      await handle.close()
    }
  }

  // What is in a run stays until the upload ends.
  dropPart({ object }: UploadPlace, part: { number: number; etag: string }): Promise<void> {
    return failing(() => unlinkIfThere(join(this.#partsOf(object), fileOf(part.number, part.etag))))
  }

  complete({ object }: UploadPlace, parts: readonly StoredPart[], version: string): Promise<Completion> {
    return failing(async () => {
      const whole = this.#fileOf(object)
      const isThere = async (): Promise<boolean> => (await sizeIfThere(whole)) !== undefined
      if (await isThere()) {
        // Perhaps by somebody who died, or has not come so far, before its name was on stable storage.
        await this.#syncFoldersOf(object)
        return 'done'
      }
      const isJoined = await this.#join(object, parts, version).catch((error) => {
        if (isMissing(error)) return false
        throw error
      })
      // Somebody else may have completed it meanwhile, and taken the parts away.
      if (!isJoined) return (await isThere()) ? 'done' : 'changed'
      await this.#syncFoldersOf(object)
      await this.tidy(object)
      return 'done'
    })
  }

  read({ object, bytes }: StoredBlob, { from, to }: ByteRange): Promise<Blob> {
    return failing(async () => {
      const file = this.#fileOf(object)
      // It may be longer: behind its end is what was on its way when it was completed.
      if ((await stat(file)).size < bytes) throw new Error('a blob is not as long as it was')
      return Bun.file(file).slice(from, to + 1)
    })
  }

  remove(object: string): Promise<void> {
    return failing(async () => {
      await unlinkIfThere(this.#fileOf(object))
      await this.tidy(object)
    })
  }

  tidy(object: string): Promise<void> {
    this.#runs.delete(object)
    return failing(() => rm(this.#partsOf(object), { recursive: true, force: true }))
  }

  /** A page is one of the 256 folders that objects are spread over. */
  list(after: string | undefined): Promise<ObjectPage> {
    return failing(async () => {
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

  // A part is written to the run where it is the next one and says how long it is. Each number gets one place in the run, once:
  // what is written again, or comes out of turn, has a file of its own. What breaks off or is replaced there stays and is counted
  // no more, so that a run is never longer than a blob may be: else nothing would bound it.
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

  /** @returns false where a power cut made a part shorter than it was */
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
    const whole = wholeOf(slices)
    const joined = whole ?? join(this.#partsOf(object), `whole.${version}`)
    await (whole === undefined ? joinSlices(slices, joined) : syncFile(joined))
    await rename(joined, this.#fileOf(object))
    return true
  }

  #fileOf(object: string): string {
    return join(this.#root, object.slice(0, 2), object)
  }

  #partsOf(object: string): string {
    return `${this.#fileOf(object)}.parts`
  }

  // A file's name is on stable storage once its folder is, and so on up.
  async #syncFoldersOf(object: string): Promise<void> {
    await syncFile(join(this.#root, object.slice(0, 2)))
    await syncFile(this.#root)
  }
}

/** A file that parts are written to one behind the other. */
interface Run {
  readonly name: string
  /** The number of the part whose place is next, and where that is. */
  readonly next: number
  readonly end: number
}

/** Where a part is. */
interface Slice {
  readonly file: string
  readonly at: number
  readonly bytes: number
}

/** The file that these slices, one behind the other, are the beginning of. */
function wholeOf(slices: readonly Slice[]): string | undefined {
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
    await failing(() => writePiece(handle, piece, at + bytes))
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
          if (bytesRead === 0) throw new Error('a part ended before its end')
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
    await unlinkIfThere(target)
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

async function sizeIfThere(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

async function unlinkIfThere(file: string): Promise<void> {
  await unlink(file).catch((error) => {
    if (!isMissing(error)) throw error
  })
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

async function failing<T>(work: () => Promise<T>): Promise<T> {
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
