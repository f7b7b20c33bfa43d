// Blobs in a folder. Each blob is one file, with a folder beside it during its upload. Parts that arrive in
// order, as clients send them, are appended to one file, called a run. The run becomes the blob by a rename.
// Any other part has a separate file until all parts are copied into one. Bytes that were acknowledged are
// never overwritten, and nothing is kept that nobody counts (docs/decisions/0012-media.md).
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type BlobStore,
  type ByteRange,
  type Completion,
  type IncomingBytes,
  type ObjectBatch,
  PartLeftOver,
  type StoredBlob,
  type StoredPart,
  type UploadPlace,
} from './blob-store.ts'
import {
  cutTo,
  isMissing,
  sizeIfExists,
  syncFile,
  unlinkIfExists,
  withFolderErrors,
  writePiece,
} from './files.ts'
import { joinParts, partFileOf } from './folder-join.ts'
import { type RunPlace, Runs, runPlaceOf } from './folder-runs.ts'
import { freeNow } from './incoming.ts'
import { SharedWork } from './shared-work.ts'

const NAME = /^(?<object>[0-9a-f]{32})(?:\.parts)?$/

/** Opens the store in `folder`, and creates the folder if needed. */
export async function openFolderStore(folder: string): Promise<BlobStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return new FolderStore(folder)
}

class FolderStore implements BlobStore {
  readonly #root: string
  readonly #runs = new Runs()
  /** The completions under way: two requests never join the same parts at once. */
  readonly #joining = new SharedWork<string, boolean>()

  constructor(root: string) {
    this.#root = root
  }

  begin(object: string): Promise<string> {
    return withFolderErrors(async () => {
      await mkdir(this.#partsOf(object), { recursive: true, mode: 0o700 })
      return ''
    })
  }

  async writePart(
    { object }: UploadPlace,
    { number, version }: { number: number; version: string },
    body: IncomingBytes,
  ): Promise<{ etag: string; bytes: number }> {
    const place = this.#runs.placeFor(object, number, version)
    if (place) return { etag: place.etag, bytes: await this.#append(object, place, body) }
    const file = join(this.#partsOf(object), partFileOf(number, version))
    const handle = await openToWrite(file)
    try {
      return { etag: version, bytes: await writeAll(handle, 0, body) }
    } catch (error) {
      await unlinkIfExists(file)
      throw error
    } finally {
      await handle.close()
    }
  }

  /**
   * A part in a run can be removed only if it is the last one there, and only by the process that writes the
   * run.
   */
  dropPart({ object }: UploadPlace, part: { number: number; etag: string }): Promise<boolean> {
    return withFolderErrors(async () => {
      if (!runPlaceOf(part.etag))
        return await unlinkIfExists(join(this.#partsOf(object), partFileOf(part.number, part.etag)))
      const place = this.#runs.lastPlace(object, part.etag)
      if (!place) return false
      try {
        // Another process may have made the run the blob. This part is behind its end.
        const run = join(this.#partsOf(object), place.name)
        if (!(await cutTo(run, place.at))) await cutTo(this.#fileOf(object), place.at)
        place.giveBack()
        return true
      } catch (error) {
        place.keep(0)
        throw error
      }
    })
  }

  /** What an attempt has left in a run stays: its process may still write to the run. */
  dropAttempt({ object }: UploadPlace, attempt: { number: number; version: string }): Promise<boolean> {
    const file = join(this.#partsOf(object), partFileOf(attempt.number, attempt.version))
    return withFolderErrors(() => unlinkIfExists(file))
  }

  complete({ object }: UploadPlace, parts: readonly StoredPart[]): Promise<Completion> {
    return withFolderErrors(async () => {
      const isComplete = async (): Promise<boolean> =>
        (await sizeIfExists(this.#fileOf(object))) !== undefined
      // Another process may complete it meanwhile and remove the parts.
      const isThere =
        (await isComplete()) ||
        (await this.#joining.run(object, () => this.#join(object, parts))) ||
        (await isComplete())
      if (!isThere) return 'changed'
      // Also if another request has renamed the file: it may have crashed, or not have synced yet.
      await this.#syncFoldersOf(object)
      await this.#removeParts(object)
      return 'done'
    })
  }

  read({ object, bytes }: StoredBlob, { from, to }: ByteRange): Promise<Blob> {
    return withFolderErrors(async () => {
      const file = this.#fileOf(object)
      // The file may be longer for a moment: another process may still write to its run.
      if ((await stat(file)).size < bytes) throw new Error('a blob’s file is shorter than the blob')
      return Bun.file(file).slice(from, to + 1)
    })
  }

  remove(object: string): Promise<void> {
    return withFolderErrors(async () => {
      await unlinkIfExists(this.#fileOf(object))
      await this.#removeParts(object)
    })
  }

  tidy({ object, bytes }: StoredBlob): Promise<void> {
    return withFolderErrors(async () => {
      await this.#removeParts(object)
      await cutTo(this.#fileOf(object), bytes)
    })
  }

  /** Each batch is one of the 256 folders that objects are spread over. */
  list(after: string | undefined): Promise<ObjectBatch> {
    return withFolderErrors(async () => {
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

  // If the part is cut off, the run is cut to where it ended before. If even that fails, nothing is appended
  // to the run any more.
  async #append(object: string, place: RunPlace, body: IncomingBytes): Promise<number> {
    const handle = await openToWrite(join(this.#partsOf(object), place.name)).catch((error) => {
      place.giveBack()
      throw error
    })
    try {
      const bytes = await writeAll(handle, place.at, body)
      place.keep(bytes)
      return bytes
    } catch (error) {
      await handle.truncate(place.at).catch(() => {
        throw new PartLeftOver(error)
      })
      place.giveBack()
      throw error
    } finally {
      await handle.close()
    }
  }

  /** @returns false if the folder does not have these parts */
  async #join(object: string, parts: readonly StoredPart[]): Promise<boolean> {
    try {
      const joined = await joinParts(this.#partsOf(object), parts)
      if (joined !== undefined) await rename(joined, this.#fileOf(object))
      return joined !== undefined
    } catch (error) {
      if (isMissing(error)) return false
      throw error
    }
  }

  async #removeParts(object: string): Promise<void> {
    this.#runs.end(object)
    await rm(this.#partsOf(object), { recursive: true, force: true })
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

function openToWrite(file: string): Promise<FileHandle> {
  return withFolderErrors(() => open(file, constants.O_WRONLY | constants.O_CREAT, 0o600))
}

async function writeAll(handle: FileHandle, at: number, body: IncomingBytes): Promise<number> {
  let bytes = 0
  for await (const piece of body.pieces) {
    await withFolderErrors(() => writePiece(handle, piece, at + bytes))
    bytes += piece.byteLength
    freeNow(piece)
  }
  return bytes
}
