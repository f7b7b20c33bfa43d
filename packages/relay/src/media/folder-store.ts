// Blobs in a folder: one file each, and while it is uploaded a folder beside it with a file for each part. Completing copies
// the parts into one file within the page cache, syncs that file alone and renames it, so that a blob is on stable storage
// from then on, is sent by the kernel, and its parts, if it went quickly, never reach the disk (docs/decisions/0012-media.md).
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

const COPY_BYTES = 1024 * 1024
const NAME = /^(?<object>[0-9a-f]{32})(?:\.parts)?$/

/** Opens the store in `folder`, which it makes if needed. */
export async function openFolderStore(folder: string): Promise<BlobStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return new FolderStore(folder)
}

class FolderStore implements BlobStore {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
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
    const file = join(this.#partsOf(object), fileOf(number, version))
    const handle = await failing(() => open(file, 'wx', 0o600))
    try {
      return { etag: version, bytes: await writeAll(handle, body) }
    } catch (error) {
      await unlinkIfThere(file)
      throw error
    } finally {
      await handle.close()
    }
  }

  dropPart({ object }: UploadPlace, part: { number: number; etag: string }): Promise<void> {
    return failing(() => unlinkIfThere(join(this.#partsOf(object), fileOf(part.number, part.etag))))
  }

  complete({ object }: UploadPlace, parts: readonly StoredPart[], version: string): Promise<Completion> {
    return failing(async () => {
      const whole = this.#fileOf(object)
      const isThere = async (): Promise<boolean> => (await sizeIfThere(whole)) !== undefined
      if (await isThere()) return 'done'
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
      if ((await stat(file)).size !== bytes) throw new Error('a blob is not as long as it was')
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

  /** @returns false where a power cut made a part shorter than it was */
  async #join(object: string, parts: readonly StoredPart[], version: string): Promise<boolean> {
    const files: string[] = []
    for (const { part_number, etag, bytes } of parts) {
      const file = join(this.#partsOf(object), fileOf(part_number, etag))
      if ((await stat(file)).size !== bytes) return false
      files.push(file)
    }
    const [only] = files
    const joined = files.length === 1 && only ? only : join(this.#partsOf(object), `whole.${version}`)
    await (joined === only ? syncFile(joined) : joinFiles(files, joined))
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

async function writeAll(handle: FileHandle, body: IncomingBytes): Promise<number> {
  let bytes = 0
  for await (const piece of body.pieces) {
    await failing(() => writePiece(handle, piece))
    bytes += piece.byteLength
    freeNow(piece)
  }
  return bytes
}

// What came in is of no more use, and waiting for the garbage collector would be tens of MiB a large file.
function freeNow({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

async function writePiece(handle: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.byteLength; ) at += (await handle.write(piece, at)).bytesWritten
}

async function joinFiles(files: readonly string[], target: string): Promise<void> {
  const out = await open(target, 'wx', 0o600)
  try {
    const buffer = Buffer.allocUnsafeSlow(COPY_BYTES)
    for (const file of files) {
      const input = await open(file, constants.O_RDONLY)
      try {
        for (;;) {
          const { bytesRead } = await input.read(buffer, 0, buffer.length)
          if (bytesRead === 0) break
          await writePiece(out, buffer.subarray(0, bytesRead))
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
