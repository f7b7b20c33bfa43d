// Relays that upload to one store and die at any step, and the bytes that are stored and counted.
import { defaultLimits, ProtocolError } from '@sotto/protocol'
import { addAccount } from '../src/accounts/accounts.ts'
import type { BlobStore } from '../src/media/blob-store.ts'
import { addBlob, type BlobRow, listParts, usageOf } from '../src/media/blobs.ts'
import { abortUpload, completeUpload, type UploadParts } from '../src/media/completing.ts'
import { Sweep } from '../src/media/sweep.ts'
import { WriteQueue } from '../src/media/write-queue.ts'
import { writePart } from '../src/media/writing.ts'
import { createLog } from '../src/operations/log.ts'
import { systemRandom } from '../src/operations/random.ts'
import type { AccountId, Storage } from '../src/storage/storage.ts'
import { ampleBudget, ampleSpace } from './ample-space.ts'
import { clockAt } from './mailbox-world.ts'

const HOUR_MS = 3_600_000
const never = new AbortController().signal

/** A step of a client, or of time. */
export type Step =
  | { readonly kind: 'begin' }
  | {
      readonly kind: 'write'
      readonly upload: number
      readonly part: number
      readonly bytes: number
      /** Whether the body announces its length. */
      readonly isAnnounced: boolean
      /** `waits`: half of the body arrives, and the rest with a later step. */
      readonly ending: 'whole' | 'cut' | 'waits'
    }
  | { readonly kind: 'end a waiting write'; readonly ending: 'whole' | 'cut' }
  | { readonly kind: 'complete' | 'abort'; readonly upload: number }
  | { readonly kind: 'two hours pass' }

/** A blob that was completed. */
export interface Completed {
  readonly object: string
  readonly content: Uint8Array
}

interface Upload {
  readonly blob: BlobRow
  readonly uploadId: string
  /** What was sent with each etag, by part number. */
  readonly sent: Map<string, Uint8Array>
}

interface Writing {
  readonly upload: Upload
  readonly part: number
  readonly content: Uint8Array
}

interface WaitingWrite extends Writing {
  readonly end: (ending: 'whole' | 'cut') => void
  readonly done: Promise<unknown>
}

/** One relay at a time, with its clients. */
export class CountingWorld {
  readonly completed: Completed[] = []
  readonly #storage: Storage
  readonly #account: AccountId
  readonly #openStore: () => Promise<BlobStore>
  readonly #clock = clockAt(Date.now())
  readonly #uploads: Upload[] = []
  #relay: UploadParts
  #waiting: WaitingWrite[] = []
  readonly #abandoned: WaitingWrite[] = []
  #fill = 0
  #lastWrite: Writing | undefined

  private constructor(
    storage: Storage,
    account: AccountId,
    openStore: () => Promise<BlobStore>,
    store: BlobStore,
  ) {
    this.#storage = storage
    this.#account = account
    this.#openStore = openStore
    this.#relay = this.#relayWith(storage, store)
  }

  static async open(storage: Storage, openStore: () => Promise<BlobStore>): Promise<CountingWorld> {
    const account = await addTestAccount(storage)
    return new CountingWorld(storage, account, openStore, await openStore())
  }

  /** The bytes that count for the account. */
  async countedBytes(): Promise<number> {
    return (await usageOf(this.#storage.sql, this.#account)).bytes
  }

  async read({ object, content }: Completed): Promise<Uint8Array> {
    const range = { from: 0, to: content.length - 1 }
    return await new Response(await this.#relay.store.read({ object, bytes: content.length }, range)).bytes()
  }

  /** Takes a step. A refusal is an answer, too. */
  async take(step: Step): Promise<void> {
    try {
      await this.#take(step, this.#relay)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
    }
  }

  /** Begins a step with a relay that dies after some transactions, and starts another relay. */
  async dieIn(step: Step, afterTransactions: number): Promise<void> {
    const died = Promise.withResolvers<void>()
    const dying = dyingStorage(this.#storage, afterTransactions, () => died.resolve())
    const taken = this.#take(step, { ...this.#relay, storage: dying }).catch((error) => {
      if (!(error instanceof ProtocolError)) throw error
    })
    await Promise.race([taken, died.promise])
    await this.#recordUnanswered()
    this.#abandoned.push(...this.#waiting)
    this.#waiting = []
    this.#relay = this.#relayWith(this.#storage, await this.#openStore())
  }

  /** Lets every upload that is not completed expire. */
  async endAll(): Promise<void> {
    while (this.#waiting.length > 0) await this.take({ kind: 'end a waiting write', ending: 'cut' })
    this.#clock.advance(25 * HOUR_MS)
    await this.#sweep(this.#relay)
    this.#clock.advance(25 * HOUR_MS)
    await this.#sweep(this.#relay)
  }

  /** Closes what dead relays have left open in this process. */
  close(): void {
    for (const { end } of this.#abandoned) end('cut')
  }

  async #take(step: Step, relay: UploadParts): Promise<void> {
    switch (step.kind) {
      case 'begin':
        return await this.#begin()
      case 'write':
        return await this.#write(step, relay)
      case 'end a waiting write': {
        const write = this.#waiting.shift()
        if (write) this.#lastWrite = write
        write?.end(step.ending)
        return void (await write?.done)
      }
      case 'complete':
        return await this.#complete(step.upload, relay)
      case 'abort': {
        const upload = this.#uploads[step.upload]
        if (upload) await abortUpload({ uploadId: upload.uploadId, account: this.#account }, relay)
        return
      }
      case 'two hours pass':
        this.#clock.advance(2 * HOUR_MS)
        return await this.#sweep(relay)
    }
  }

  async #begin(): Promise<void> {
    const { storage, store } = this.#relay
    const { blob, uploadId } = await addBlob(this.#account, { state: 'open' }, this.#relay)
    const handle = await store.begin(blob.object)
    await storage.transaction((sql) => sql`UPDATE media_blobs SET handle = ${handle} WHERE id = ${blob.id}`)
    this.#uploads.push({ blob: { ...blob, handle }, uploadId, sent: new Map() })
  }

  async #write(step: Step & { kind: 'write' }, relay: UploadParts): Promise<void> {
    const upload = this.#uploads[step.upload]
    if (!upload) return
    this.#fill = (this.#fill % 250) + 1
    const content = new Uint8Array(step.bytes).fill(this.#fill)
    const body = bodyOf(content)
    const writing = { upload, part: step.part, content }
    this.#lastWrite = writing
    const of = { uploadId: upload.uploadId, account: this.#account, mediaKey: upload.blob.media_key }
    const length = step.isAnnounced ? step.bytes : undefined
    const done = writePart(
      { ...of, number: step.part },
      { pieces: body.pieces, length, mostBytes: relay.limits.mediaPartBytes },
      relay,
    ).then((etag) => upload.sent.set(`${step.part} ${etag}`, content))
    const written = done.catch((error) => {
      if (!(error instanceof ProtocolError)) throw error
    })
    const isHalf = await Promise.race([body.half.then(() => true), written.then(() => false)])
    if (isHalf && step.ending === 'waits') {
      this.#waiting.push({ ...writing, end: body.end, done: written })
      return
    }
    body.end(step.ending === 'cut' ? 'cut' : 'whole')
    await written
  }

  // A relay may die after it has recorded a part and before it answers.
  async #recordUnanswered(): Promise<void> {
    if (!this.#lastWrite) return
    const { upload, part, content } = this.#lastWrite
    for (const { part_number, etag } of await listParts(this.#storage.sql, upload.blob.id)) {
      const key = `${part_number} ${etag}`
      if (part_number === part && !upload.sent.has(key)) upload.sent.set(key, content)
    }
  }

  async #complete(number: number, relay: UploadParts): Promise<void> {
    const upload = this.#uploads[number]
    if (!upload) return
    const { blob, uploadId, sent } = upload
    const stored = await listParts(this.#storage.sql, blob.id)
    if (stored.length === 0) return // A request cannot name no parts.
    const of = { uploadId, account: this.#account, mediaKey: blob.media_key }
    await completeUpload(of, stored, relay)
    const [row] = await this.#storage.sql<{ object: string }>`
      SELECT object FROM media_blobs WHERE id = ${blob.id} AND state = 'stored'`
    if (!row || this.completed.some(({ object }) => object === row.object)) return
    const contents = stored.map(({ part_number, etag }) => sent.get(`${part_number} ${etag}`))
    this.completed.push({ object: row.object, content: joined(contents) })
  }

  #sweep(relay: UploadParts): Promise<void> {
    return new Sweep({ ...relay, log: createLog('silent') }).run(never, true)
  }

  #relayWith(storage: Storage, store: BlobStore): UploadParts {
    const shared = {
      storage,
      clock: this.#clock,
      randomBytes: systemRandom,
      limits: defaultLimits(),
      budget: ampleBudget,
      space: ampleSpace,
    }
    return { ...shared, store, queue: new WriteQueue() }
  }
}

/** Adds an account. */
export async function addTestAccount(storage: Storage): Promise<AccountId> {
  const parts = { storage, clock: clockAt(Date.now()), randomBytes: systemRandom, limits: defaultLimits() }
  const keys = { ed25519PublicKey: crypto.randomUUID(), x25519PublicKey: crypto.randomUUID() }
  return await storage.transaction(async (sql) => {
    await addAccount(sql, { ...keys, nickname: 'n' }, parts)
    const [row] = await sql<{ id: AccountId }>`SELECT id FROM accounts ORDER BY id DESC LIMIT 1`
    if (!row) throw new Error('no account was added')
    return row.id
  })
}

/** The same storage for some transactions. The next one never begins. */
export function dyingStorage(storage: Storage, afterTransactions: number, onDeath: () => void): Storage {
  let left = afterTransactions
  const step = <T>(work: () => Promise<T>): Promise<T> => {
    if (left === 0) onDeath()
    return left-- > 0 ? work() : new Promise(() => undefined)
  }
  return {
    sql: storage.sql,
    engine: storage.engine,
    ping: () => storage.ping(),
    size: () => storage.size(),
    close: () => storage.close(),
    transaction: (work) => step(() => storage.transaction(work)),
    unsyncedTransaction: (work) => step(() => storage.unsyncedTransaction(work)),
  }
}

/** A body that waits after its first half. `half` resolves when the reader asks for the second one. */
function bodyOf(content: Uint8Array): {
  pieces: ReadableStream<Uint8Array>
  half: Promise<void>
  end: (ending: 'whole' | 'cut') => void
} {
  const half = Promise.withResolvers<void>()
  const ending = Promise.withResolvers<'whole' | 'cut'>()
  const middle = Math.ceil(content.length / 2)
  let isFirst = true
  const pieces = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        if (isFirst) {
          isFirst = false
          return controller.enqueue(content.slice(0, middle))
        }
        half.resolve()
        if ((await ending.promise) === 'cut') return controller.error(new Error('cut'))
        controller.enqueue(content.slice(middle))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  return { pieces, half: half.promise, end: ending.resolve }
}

function joined(contents: readonly (Uint8Array | undefined)[]): Uint8Array {
  return Buffer.concat(
    contents.map((content) => {
      if (!content) throw new Error('a blob has a part that nobody sent')
      return content
    }),
  )
}
