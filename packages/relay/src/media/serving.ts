// Serves a blob over HTTP: whole, a range of it, or only its headers (RFC 9110). The relay does not know what
// it serves, so its headers, and those of every answer, stop browsers from interpreting it.
import { ProtocolError } from '@sotto/protocol'
import type { BlobStore, ByteRange, StoredBlob } from './blob-store.ts'

const HEADERS = {
  'content-type': 'application/octet-stream',
  'content-disposition': 'attachment',
  'accept-ranges': 'bytes',
  'cache-control': 'private, no-cache',
}

/** Counts the bytes that an account downloads. */
export interface DownloadCount {
  /** @throws ProtocolError `RATE_LIMITED` if the account has downloaded too many */
  take(bytes: number): void
  /** Counts bytes no longer, because they could not be sent. */
  giveBack(bytes: number): void
}

/**
 * Answers a request for a blob.
 * @param asked.headers `Range`, `If-Range` and `If-None-Match` are used
 * @param tag identifies the blob in its ETag; both never change
 * @param parts.count counts the bytes of the body before it is sent
 * @throws ProtocolError `RANGE_NOT_SATISFIABLE`, and what `count` throws; BlobStoreError, and then the bytes
 *   do not count
 */
export async function serveBlob(
  blob: StoredBlob,
  tag: string,
  {
    asked,
    store,
    count,
  }: {
    asked: Pick<Request, 'method' | 'headers'>
    store: BlobStore
    count: DownloadCount
  },
): Promise<Response> {
  const etag = `"${tag}"`
  const headers = new Headers({ ...HEADERS, etag })
  if (isUnchanged(asked.headers.get('if-none-match'), etag))
    return new Response(null, { status: 304, headers })
  if (asked.method === 'HEAD') {
    headers.set('content-length', `${blob.bytes}`)
    return new Response(null, { headers })
  }
  const range = rangeOf(asked.headers, etag, blob.bytes)
  const { from, to } = range ?? { from: 0, to: blob.bytes - 1 }
  const bytes = to - from + 1
  count.take(bytes)
  const body = await store.read(blob, { from, to }).catch((error: unknown) => {
    count.giveBack(bytes)
    throw error
  })
  headers.set('content-length', `${bytes}`)
  if (range) headers.set('content-range', `bytes ${from}-${to}/${blob.bytes}`)
  return new Response(body, { status: range ? 206 : 200, headers })
}

function isUnchanged(given: string | null, etag: string): boolean {
  if (given === null) return false
  const tags = given.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes('*') || tags.includes(etag)
}

// A Range that is malformed or asks for several ranges may be ignored (RFC 9110, 14.2), and so may any whose
// If-Range does not name this blob.
function rangeOf(headers: Headers, etag: string, bytes: number): ByteRange | undefined {
  const condition = headers.get('if-range')
  if (condition !== null && condition.trim() !== etag) return undefined
  const found = /^bytes=[ \t]*(?<first>\d*)-(?<last>\d*)[ \t]*$/i.exec(
    headers.get('range')?.trim() ?? '',
  )?.groups
  if (!found || (found.first === '' && found.last === '')) return undefined
  const [first, last] = [Number(found.first), Number(found.last)]
  if (found.first === '') {
    if (last === 0) throw unsatisfiable(bytes)
    return { from: Math.max(0, bytes - last), to: bytes - 1 }
  }
  if (found.last !== '' && last < first) return undefined
  if (first >= bytes) throw unsatisfiable(bytes)
  return { from: first, to: found.last === '' ? bytes - 1 : Math.min(last, bytes - 1) }
}

function unsatisfiable(bytes: number): ProtocolError {
  return new ProtocolError('RANGE_NOT_SATISFIABLE', { totalBytes: bytes })
}
