// Joins an upload's parts to one file, without ever holding more than one part twice. The last part is copied
// first, so that a run can be cut after each of its parts. The name of the new file says which parts it has:
// `whole.3` has part 3 and all after it. So after a crash, the next attempt continues.
import { constants } from 'node:fs'
import { type FileHandle, open, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { BlobStoreError, type StoredPart } from './blob-store.ts'
import { cutTo, isMissing, sizeIfExists, unlinkIfExists, writePiece } from './files.ts'
import { runPlaceOf } from './folder-runs.ts'

const COPY_BYTES = 1024 * 1024

/** A part's bytes, and their place in the blob. */
interface Slice {
  readonly file: string
  readonly at: number
  readonly bytes: number
  readonly isInRun: boolean
  readonly target: number
}

/** The name of a part's own file. */
export function partFileOf(number: number, version: string): string {
  return `${number}.${version}`
}

/**
 * Joins the parts in `folder` to one file, which is on stable storage.
 * @returns its path; undefined if the folder does not have exactly these parts
 * @throws BlobStoreError if another process is joining them as well
 */
export async function joinParts(folder: string, parts: readonly StoredPart[]): Promise<string | undefined> {
  const slices = slicesOf(folder, parts)
  const run = commonFileOf(slices)
  if (run !== undefined) return (await cutAndSync(run, slices)) ? run : undefined
  const begun = await findWhole(folder)
  if (!(await areThere(slices.slice(0, (begun ?? slices.length + 1) - 1)))) return undefined
  return await copyAll(folder, slices, begun)
}

function slicesOf(folder: string, parts: readonly StoredPart[]): Slice[] {
  let target = 0
  return parts.map(({ part_number, etag, bytes }) => {
    const place = runPlaceOf(etag)
    const slice = {
      file: join(folder, place?.name ?? partFileOf(part_number, etag)),
      ...{ at: place?.at ?? 0, bytes, isInRun: place !== undefined, target },
    }
    target += bytes
    return slice
  })
}

/** The one file that begins with exactly these slices; undefined if there is none. */
function commonFileOf(slices: readonly Slice[]): string | undefined {
  const file = slices[0]?.file
  return slices.every((slice) => slice.file === file && slice.at === slice.target) ? file : undefined
}

// Behind the last part there may be bytes of parts that are not named.
async function cutAndSync(file: string, slices: readonly Slice[]): Promise<boolean> {
  const { target = 0, bytes = 0 } = slices.at(-1) ?? {}
  const handle = await openIfExists(file)
  if (!handle) return false
  try {
    const { size } = await handle.stat()
    if (size < target + bytes) return false
    if (size > target + bytes) await handle.truncate(target + bytes)
    await handle.sync()
    return true
  } finally {
    await handle.close()
  }
}

/** A power cut may have made a part shorter. */
async function areThere(slices: readonly Slice[]): Promise<boolean> {
  for (const { file, at, bytes } of slices) {
    if (((await sizeIfExists(file)) ?? 0) < at + bytes) return false
  }
  return true
}

/** @param begun the number of the first part that an earlier attempt has copied */
async function copyAll(folder: string, slices: readonly Slice[], begun: number | undefined): Promise<string> {
  const first = begun ?? slices.length + 1
  const wholeOf = (number: number): string => join(folder, `whole.${number}`)
  const out = await open(wholeOf(first), begun === undefined ? 'wx' : constants.O_WRONLY, 0o600)
  try {
    for (let number = first - 1; number >= 1; number--) {
      const slice = slices[number - 1]
      if (!slice) throw new Error('a part has no slice')
      await copySlice(slice, out)
      // The name may say that the part is there, and the part itself may go, only when the bytes are on
      // stable storage.
      await out.sync()
      await rename(wholeOf(number + 1), wholeOf(number))
      if (slice.isInRun) await cutTo(slice.file, slice.at)
      else await unlinkIfExists(slice.file)
    }
    return wholeOf(1)
  } catch (error) {
    // A file that has no part yet may hold bytes of one.
    await unlinkIfExists(wholeOf(slices.length + 1))
    if (isMissing(error) && (await findWhole(folder)) !== undefined)
      throw new BlobStoreError('another process joins these parts', { cause: error })
    throw error
  } finally {
    await out.close()
  }
}

async function copySlice({ file, at, bytes, target }: Slice, out: FileHandle): Promise<void> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(COPY_BYTES, bytes))
  const input = await open(file, constants.O_RDONLY)
  try {
    for (let done = 0; done < bytes; ) {
      const { bytesRead } = await input.read(buffer, 0, Math.min(buffer.length, bytes - done), at + done)
      if (bytesRead === 0) throw new BlobStoreError('a part is shorter than it was')
      await writePiece(out, buffer.subarray(0, bytesRead), target + done)
      done += bytesRead
    }
  } finally {
    await input.close()
  }
}

/** The number of the first part that an earlier attempt has copied; undefined if there was none. */
async function findWhole(folder: string): Promise<number | undefined> {
  const numbers = (await readdir(folder)).flatMap((name) => /^whole\.(?<number>\d+)$/.exec(name)?.[1] ?? [])
  return numbers.length === 0 ? undefined : Math.min(...numbers.map(Number))
}

async function openIfExists(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, constants.O_RDWR)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
