// Media of a copy: what lies in a folder is put into the bucket, if there is one, and read back. A blob that
// is in the bucket already stays as it is, and so does a folder if there is no bucket.
import type { Database } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import type { BlobStore, StoredBlob, StoredPart } from '../media/blob-store.ts'
import { sizeIfExists } from '../media/files.ts'
import { openFolderStore } from '../media/folder-store.ts'
import type { Storage } from '../storage/storage.ts'
import { CopyError } from './copy-error.ts'
import { readProgress, type Tell, tellTenths, writeProgress } from './copy-tables.ts'

/** Where blobs are before and after a copy. */
export interface MediaPlaces {
  readonly folder: string
  /** Undefined if blobs stay in the folder. */
  readonly bucket: BlobStore | undefined
}

/** A store takes at most 10,000 parts, so a blob has at most 160 GiB. */
const PART_BYTES = 16 * 1024 * 1024
/** How many questions the bucket is asked at a time. */
const QUESTIONS = 16

/** What the progress of media is called; no table has this name. */
const MEDIA = 'blobs of media'

/**
 * Looks for every blob, in the folder and in the bucket.
 * @returns how many are in neither, or shorter than they should be
 */
export async function countMissing(source: Database, { folder, bucket }: MediaPlaces): Promise<number> {
  let missing = 0
  const isMissing = async ({ object, bytes }: StoredBlob): Promise<boolean> => {
    if (((await sizeInFolder(folder, object)) ?? -1) >= bytes) return false
    return (await bucket?.direct?.find(object))?.bytes !== bytes
  }
  for (const blobs of pages(source)) {
    const answers = await Promise.all(blobs.map(isMissing))
    missing += answers.filter((answer) => answer).length
  }
  return missing
}

/**
 * Puts the blobs of the folder into the bucket, as far as that is not done yet.
 * @returns how many blobs it has put there
 */
export async function copyMedia(
  source: Database,
  target: Storage,
  { folder, bucket, tell }: { folder: string; bucket: BlobStore; tell: Tell },
): Promise<number> {
  const begun = await readProgress(target.sql, MEDIA)
  const from = await openFolderStore(folder)
  let copied = begun?.copied ?? 0
  let isFirst = true
  let put = 0
  const all = countBlobs(source)
  const tellCopied = tellTenths(tell, MEDIA, { all, done: copied })
  for (const blobs of pages(source, Number(begun?.after?.[0] ?? 0))) {
    for (const { id, ...blob } of blobs) {
      const isInFolder = ((await sizeInFolder(folder, blob.object)) ?? -1) >= blob.bytes
      // A copy that was cut off may have left a part of the first one.
      if (isInFolder && (await putBlob(blob, { from, to: bucket, mayBeLeftOver: isFirst }))) put += 1
      isFirst = false
      copied += 1
      const progress = { after: [String(id)], copied, isDone: copied === all }
      await target.unsyncedTransaction((sql) => writeProgress(sql, MEDIA, progress))
      tellCopied(copied)
    }
  }
  return put
}

/** @returns false if it is there already */
async function putBlob(
  blob: StoredBlob,
  { from, to, mayBeLeftOver }: { from: BlobStore; to: BlobStore; mayBeLeftOver: boolean },
): Promise<boolean> {
  const { object, bytes } = blob
  const sum = await sumOf(from, blob)
  const there = await to.direct?.find(object)
  if (there?.bytes === bytes && (await sumOf(to, blob)) === sum) return false
  if (there || mayBeLeftOver) await to.remove(object)
  const place = { object, handle: await to.begin(object) }
  const parts: StoredPart[] = []
  for (let at = 0; at < bytes; at += PART_BYTES) {
    const length = Math.min(PART_BYTES, bytes - at)
    const number = parts.length + 1
    const body = { pieces: piecesOf(from, blob, { from: at, to: at + length - 1 }), length }
    const written = await to.writePart(place, { number, version: `copy_${object}_${number}` }, body)
    parts.push({ part_number: number, ...written })
  }
  const completion = await to.complete(place, parts)
  if (completion !== 'done' || (await sumOf(to, blob)) !== sum)
    throw new CopyError(`the bucket does not give back what was put into it as ${object}; run the copy again`)
  return true
}

/** The SHA-256 of a blob in hexadecimal. */
async function sumOf(store: BlobStore, blob: StoredBlob): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of piecesOf(store, blob, { from: 0, to: blob.bytes - 1 })) hash.update(piece)
  return hash.digest('hex')
}

async function* piecesOf(
  store: BlobStore,
  blob: StoredBlob,
  range: { from: number; to: number },
): AsyncGenerator<Uint8Array> {
  const read = await store.read(blob, range)
  if (read instanceof Uint8Array) yield read
  else yield* read instanceof Blob ? read.stream() : read
}

interface NumberedBlob extends StoredBlob {
  readonly id: number
}

function* pages(source: Database, after = 0): Generator<readonly NumberedBlob[]> {
  using stored = source.prepare<NumberedBlob, [number, number]>(
    "SELECT id, object, bytes FROM media_blobs WHERE state = 'stored' AND id > ? ORDER BY id LIMIT ?",
  )
  for (let last = after; ; ) {
    const blobs = stored.all(last, QUESTIONS)
    const end = blobs.at(-1)
    if (!end) return
    yield blobs
    last = end.id
  }
}

/** How many blobs can be read. */
export function countBlobs(source: Database): number {
  using counting = source.prepare<{ count: number }, []>(
    "SELECT COUNT(*) AS count FROM media_blobs WHERE state = 'stored'",
  )
  return counting.get()?.count ?? 0
}

// As folder-store.ts names files.
function sizeInFolder(folder: string, object: string): Promise<number | undefined> {
  return sizeIfExists(`${folder}/${object.slice(0, 2)}/${object}`)
}
