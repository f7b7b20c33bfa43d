// Blobs in a bucket of an S3-compatible store: one object each, uploaded with the store's multipart uploads.
import { join } from 'node:path'
import { ProtocolError } from '@sotto/protocol'
import {
  type BlobStore,
  BlobStoreError,
  type ByteRange,
  type Completion,
  type DirectAccess,
  type IncomingBytes,
  type ObjectBatch,
  PartLeftOver,
  type StoredBlob,
  type StoredPart,
  type UploadPlace,
  type WrittenObject,
} from './blob-store.ts'
import { freeNow } from './incoming.ts'
import { elementOf, elementsOf, type S3Requests, type S3Stream } from './s3-requests.ts'
import { spooled } from './spooled.ts'

/** Ranges up to this size are read completely, because the runtime sends no Content-Length for a stream. */
const READ_WHOLE_BYTES = 256 * 1024
const XML = { 'content-type': 'application/xml' }

export class S3Store implements BlobStore {
  readonly direct: DirectAccess
  readonly #requests: S3Requests
  readonly #prefix: string
  readonly #bucket: string
  readonly #spoolFolder: string

  /**
   * @param prefix the keys of all objects begin with it; nothing else may be below it
   * @param spoolFolder for temporary files of bytes whose length is not known yet
   */
  constructor(
    requests: S3Requests,
    { bucket, prefix, spoolFolder }: { bucket: string; prefix: string; spoolFolder: string },
  ) {
    this.#requests = requests
    this.#bucket = bucket
    this.#prefix = prefix
    this.#spoolFolder = spoolFolder
    this.direct = {
      linkToWrite: (object, { seconds, bytes }) => {
        // The signature covers the length, so the store accepts no other length.
        const headers = { 'content-length': `${bytes}` }
        return requests.link({ method: 'PUT', key: this.#keyOf(object), headers }, seconds)
      },
      linkToRead: (object, { seconds }) => {
        const query = {
          'response-content-type': 'application/octet-stream',
          'response-content-disposition': 'attachment',
        }
        return requests.link({ method: 'GET', key: this.#keyOf(object), query }, seconds)
      },
      // An empty object has no range that could be read, so it counts as not written.
      find: async (object) => {
        const found = await this.#findObject(object)
        return found && found.bytes > 0 ? found : undefined
      },
      copy: (from, to) => this.#copy(from, to),
    }
  }

  async begin(object: string): Promise<string> {
    const key = this.#keyOf(object)
    const { text } = await this.#requests.send({ method: 'POST', key, query: { uploads: '' } })
    const id = elementOf(text, 'UploadId')
    if (id === undefined) throw new BlobStoreError('the S3 store did not begin an upload')
    return id
  }

  async writePart(
    place: UploadPlace,
    { number, version }: { number: number; version: string },
    body: IncomingBytes,
  ): Promise<{ etag: string; bytes: number }> {
    // Bytes that arrive faster than the store accepts them would fill the memory. The store also needs the
    // length in advance.
    return await spooled(join(this.#spoolFolder, `spool_${version}`), body, (known) =>
      this.#send(place, number, known),
    )
  }

  // The attempt that replaced the part wrote to its place.
  async dropPart(): Promise<boolean> {
    return true
  }

  // The store may have the whole part: only the answer was lost.
  async dropAttempt(): Promise<boolean> {
    return false
  }

  async complete(place: UploadPlace, parts: readonly StoredPart[], mayHoldMore = false): Promise<Completion> {
    const { object, handle } = place
    const key = this.#keyOf(object)
    if (mayHoldMore) await this.#emptyOtherParts(place, parts)
    const named = parts.map(
      ({ part_number, etag }) => `<Part><PartNumber>${part_number}</PartNumber><ETag>"${etag}"</ETag></Part>`,
    )
    const body = `<CompleteMultipartUpload>${named.join('')}</CompleteMultipartUpload>`
    const query = { uploadId: handle }
    const { code } = await this.#requests.send({ method: 'POST', key, query, headers: XML, body })
    if (code === undefined) return 'done'
    if (code === 'EntityTooSmall') return 'too small'
    if (code === 'InvalidPart' || code === 'InvalidPartOrder') return 'changed'
    if (code !== 'NoSuchUpload') throw new BlobStoreError(`the S3 store did not join the parts: ${code}`)
    // It was completed before, and the answer was lost.
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
    return (await this.#findObject(object))?.bytes === bytes ? 'done' : 'changed'
  }

  async read(
    { object, bytes }: StoredBlob,
    { from, to }: ByteRange,
  ): Promise<ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>> {
    const headers = { range: `bytes=${from}-${to}` }
    return await this.#requests.open(
      { method: 'GET', key: this.#keyOf(object), headers },
      async (response) => {
        const { body } = response
        const isAsked = response.headers.get('content-range') === `bytes ${from}-${to}/${bytes}`
        if (!isAsked || !body) {
          await body?.cancel()
          throw new BlobStoreError('the S3 store answered another range')
        }
        return to - from < READ_WHOLE_BYTES ? await response.bytes() : body
      },
    )
  }

  async remove(object: string): Promise<void> {
    const key = this.#keyOf(object)
    const query = { uploads: '', prefix: key }
    const { text } = await this.#requests.send({ method: 'GET', key: '', query })
    for (const uploadId of elementsOf(text, 'UploadId')) {
      await this.#requests.send({ method: 'DELETE', key, query: { uploadId } })
    }
    const { code } = await this.#requests.send({ method: 'DELETE', key })
    if (code !== undefined && code !== 'NoSuchKey') {
      throw new BlobStoreError(`the S3 store did not remove an object: ${code}`)
    }
  }

  // Nothing to do: the store itself removes the parts of a completed upload.
  async tidy(): Promise<void> {}

  async list(after: string | undefined): Promise<ObjectBatch> {
    const start: Record<string, string> = after === undefined ? {} : { 'start-after': this.#keyOf(after) }
    const query = { 'list-type': '2', 'max-keys': '500', prefix: this.#prefix, ...start }
    const { text, code } = await this.#requests.send({ method: 'GET', key: '', query })
    if (code !== undefined) throw new BlobStoreError(`the S3 store did not list its objects: ${code}`)
    const objects = Array.from(text.matchAll(/<Contents>.*?<\/Contents>/gs), ([entry]) => ({
      object: (elementOf(entry, 'Key') ?? '').slice(this.#prefix.length),
      modifiedAt: Date.parse(elementOf(entry, 'LastModified') ?? ''),
    }))
    const isMore = elementOf(text, 'IsTruncated') === 'true'
    return { objects, next: isMore ? objects.at(-1)?.object : undefined }
  }

  async #send(
    { object, handle }: UploadPlace,
    number: number,
    body: IncomingBytes & { readonly length: number },
  ): Promise<{ etag: string; bytes: number }> {
    let counted = countedStream(body)
    const request = {
      method: 'PUT',
      key: this.#keyOf(object),
      query: { partNumber: `${number}`, uploadId: handle },
      headers: { 'content-length': `${body.length}` },
      body: () => {
        counted = countedStream(body)
        return counted
      },
      ending: body.ending,
    } as const
    // Without an answer, nobody knows whether the store has the part.
    const { response, code } = await this.#requests.send(request).catch((error) => {
      const isAborted = body.ending?.aborted
      throw new PartLeftOver(counted.failure() ?? (isAborted ? new ProtocolError('BODY_INCOMPLETE') : error))
    })
    const failure = counted.failure()
    if (failure) throw new PartLeftOver(failure)
    if (code === 'NoSuchUpload') throw new ProtocolError('NOT_FOUND')
    const etag = response.headers.get('etag')?.replaceAll('"', '')
    if (code !== undefined || !etag)
      throw new BlobStoreError(`the S3 store did not accept a part: ${code ?? 'no ETag'}`)
    return { etag, bytes: counted.bytes() }
  }

  // Swift keeps parts that were not named as objects of their own, which no list shows. A part cannot be
  // removed, but it can be replaced by an empty one.
  async #emptyOtherParts({ object, handle }: UploadPlace, parts: readonly StoredPart[]): Promise<void> {
    const key = this.#keyOf(object)
    const named = new Set(parts.map(({ part_number }) => `${part_number}`))
    for (let after: string | undefined = '0'; after !== undefined; ) {
      const query: Record<string, string> = { uploadId: handle, 'part-number-marker': after }
      const { text, code } = await this.#requests.send({ method: 'GET', key, query })
      if (code === 'NoSuchUpload') return // It was completed before, and the answer was lost.
      if (code !== undefined) throw new BlobStoreError(`the S3 store did not list the parts: ${code}`)
      for (const partNumber of elementsOf(text, 'PartNumber').filter((number) => !named.has(number))) {
        const empty = { uploadId: handle, partNumber }
        const { code } = await this.#requests.send({ method: 'PUT', key, query: empty, body: '' })
        if (code !== undefined) throw new BlobStoreError(`the S3 store did not empty a part: ${code}`)
      }
      after = elementOf(text, 'IsTruncated') === 'true' ? elementOf(text, 'NextPartNumberMarker') : undefined
    }
  }

  async #copy(from: WrittenObject, to: string): Promise<boolean> {
    const headers = {
      'x-amz-copy-source': `/${this.#bucket}/${this.#keyOf(from.object)}`,
      'x-amz-copy-source-if-match': from.etag,
    }
    const { code } = await this.#requests.send({ method: 'PUT', key: this.#keyOf(to), headers })
    if (code === undefined) return true
    if (code === 'PreconditionFailed' || code === 'NoSuchKey') return false
    throw new BlobStoreError(`the S3 store did not copy an object: ${code}`)
  }

  async #findObject(object: string): Promise<WrittenObject | undefined> {
    const { response, code } = await this.#requests.send({ method: 'HEAD', key: this.#keyOf(object) })
    if (response.status === 404) return undefined
    const etag = response.headers.get('etag')
    if (code !== undefined || !etag)
      throw new BlobStoreError(`the S3 store did not describe an object: ${code ?? 'no ETag'}`)
    return { object, bytes: Number(response.headers.get('content-length')), etag }
  }

  #keyOf(object: string): string {
    return this.#prefix + object
  }
}

interface CountedStream extends S3Stream {
  bytes(): number
}

// A body that is being sent to the store. `failure` says why it ended early; the error of the request does
// not say it.
function countedStream(body: IncomingBytes): CountedStream {
  let bytes = 0
  let failure: unknown
  let isCancelled = false
  const ended = Promise.withResolvers<void>()
  const pieces = body.pieces[Symbol.asyncIterator]()
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull: async (controller) => {
        try {
          const { value, done } = await pieces.next()
          // The request was cancelled, and enqueuing would throw. The request reports the reason.
          if (isCancelled) return
          if (done) {
            ended.resolve()
            return controller.close()
          }
          bytes += value.byteLength
          controller.enqueue(new Uint8Array(value))
          freeNow(value)
        } catch (error) {
          failure = error
          controller.error(error)
        }
      },
      cancel: async () => {
        isCancelled = true
        await pieces.return?.()
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, ended: ended.promise, bytes: () => bytes, failure: () => failure }
}
