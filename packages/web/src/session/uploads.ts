// What is being sent besides typed text: one after the other, so that it arrives in the chosen order. It is
// kept on the device until it is sent, and continues after a reload or the lock.
import { type ReadonlySignal, signal } from '@preact/signals'
import {
  type BegunUpload,
  type Client,
  ClientError,
  contentOf,
  type SendImageOptions,
  type StoredMessage,
  type TransferProgress,
} from '@sotto/client'
import { texts } from '../texts/texts.ts'
import { now } from './clock.ts'
import { KeptUploads } from './kept-uploads.ts'
import { MediaFiles } from './media-files.ts'
import { notify, notifyError } from './notices.ts'
import { go, href, route } from './route.ts'
import type { MediaContent, Received, Sendable } from './sendable.ts'
import { type Job, jobOf, type Upload } from './upload-job.ts'

type ImageClaims = NonNullable<SendImageOptions['details']>

/** The uploads of a client. */
export class Uploads {
  static readonly #all = new WeakMap<Client, Uploads>()

  /** The uploads of a client: the same ones for every part of the page. */
  static of(client: Client): Uploads {
    const uploads = Uploads.#all.get(client) ?? new Uploads(client)
    Uploads.#all.set(client, uploads)
    return uploads
  }

  readonly #client: Client
  readonly #kept: KeptUploads
  readonly #list = signal<readonly Job[]>([])
  #account: string | undefined
  #latest = 0
  #keeping: Promise<void> = Promise.resolve()
  #isRunning = false

  private constructor(client: Client) {
    this.#client = client
    this.#kept = new KeptUploads(client)
    this.#account = client.identity?.uuid
    // What is locked, or of another account, goes from the page. Its records stay with the account.
    client.on('identity_changed', ({ identity }) => {
      if (identity?.uuid !== this.#account) for (const job of this.#list.value) this.#remove(job)
      this.#account = identity?.uuid ?? this.#account
    })
    // While another device is in use, nothing is sent from this one.
    client.on('network_state', () => void this.#run())
    addEventListener('beforeunload', (event) => {
      // The browser asks the user: what is not kept ends with the page.
      if (this.#list.value.some((job) => job.source instanceof Blob && !job.sealed)) event.preventDefault()
    })
  }

  get list(): ReadonlySignal<readonly Upload[]> {
    return this.#list
  }

  /** Sends something after all that was chosen before. */
  add({ source, ...rest }: Sendable): void {
    this.#latest = Math.max(this.#latest + 1, now.peek())
    const record = {
      ...rest,
      id: crypto.randomUUID(),
      addedAt: this.#latest,
      ...(source instanceof Blob ? {} : { source }),
    }
    const job = jobOf(record, source)
    job.kept = this.#keeping.then(() => this.#keep(job))
    this.#keeping = job.kept
    this.#start(job)
  }

  /**
   * Continues what was not sent when the page was left or locked. What another tab sends is continued once
   * that tab is closed. @throws ClientError as `AppData` does
   */
  async restore(): Promise<void> {
    await this.#kept.sweep()
    const records = await this.#kept.list()
    // The page before may let go of its locks in any order, but a contact gets everything in order.
    const turns = new Map<string, Promise<void>>()
    for (const { id, conversationId } of records) {
      const before = turns.get(conversationId) ?? Promise.resolve()
      turns.set(
        conversationId,
        before.then(() => this.#takeOver(id)),
      )
    }
  }

  /** Sends what failed once more. */
  retry(id: string): void {
    const job = this.#find(id)
    if (!job) return
    job.abort = new AbortController()
    job.progress.value = 0
    job.error.value = undefined
    void this.#run()
  }

  /** Stops an upload, or forgets one that failed. */
  cancel(id: string): void {
    const job = this.#find(id)
    if (job) void this.#forget(job).catch(notifyError)
  }

  #find(id: string): Job | undefined {
    return this.#list.value.find((job) => job.id === id)
  }

  #start(job: Job): void {
    this.#list.value = [...this.#list.value, job].sort((one, other) => one.addedAt - other.addedAt)
    void this.#run()
  }

  /** Takes it out of the list. Its record stays. */
  #remove(job: Job): void {
    job.abort.abort()
    this.#list.value = this.#list.value.filter((each) => each !== job)
    job.leave()
  }

  async #forget(job: Job): Promise<void> {
    this.#remove(job)
    await job.kept
    await this.#kept.delete(job.record)
  }

  /** Stores it, so that it outlives the page. A failure is told; it is sent all the same. */
  async #keep(job: Job): Promise<void> {
    const { source, record, abort } = job
    try {
      await new Promise<void>((resolve, reject) => {
        const hold = (): Promise<void> => {
          resolve()
          return job.left
        }
        navigator.locks.request(lockOf(record.id), hold).catch(reject)
      })
      if (abort.signal.aborted) return
      await this.#kept.put(record)
      if (source instanceof Blob)
        job.sealed = await this.#kept.seal(MediaFiles.of(this.#client).media, record, source, abort.signal)
    } catch (error) {
      if (!abort.signal.aborted) notifyError(error)
    }
  }

  /** Waits until no other page holds its lock, and sends it. Resolves once it is in the list. */
  async #takeOver(id: string): Promise<void> {
    try {
      await new Promise<void>((resolve, reject) => {
        const hold = async (): Promise<void> => {
          const job = await this.#restored(id)
          if (job) this.#start(job)
          resolve()
          await job?.left
        }
        navigator.locks.request(lockOf(id), hold).catch(reject)
      })
    } catch (error) {
      notifyError(error)
    }
  }

  /** What an earlier page has left, if it is there still. */
  async #restored(id: string): Promise<Job | undefined> {
    if (!this.#client.identity || this.#find(id)) return undefined
    const record = (await this.#kept.list()).find((each) => each.id === id)
    if (!record) return undefined
    const job = jobOf(record, record.source)
    job.sealed = await this.#kept.fileOf(record)
    return job
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    while (this.#client.networkState !== 'disconnected') {
      const job = this.#list.value.find(({ error }) => error.value === undefined)
      if (!job) break
      try {
        await job.kept
        if (this.#find(job.id) !== job) continue
        await this.#send(job)
        await this.#forget(job).catch(notifyError)
      } catch (error) {
        // It goes on when this device is used again.
        if (isSignedOut(error)) continue
        job.error.value = error
        // What was cancelled is not in the list any more.
        if (this.#find(job.id)) tell(job)
      }
    }
    this.#isRunning = false
  }

  async #send(job: Job): Promise<void> {
    const { kind, conversationId, id, name, replyToId, source, sealed } = job
    const reply = replyToId === undefined ? {} : { replyToId }
    if (typeof source === 'string') {
      await this.#client.send(conversationId, source, { id, ...reply })
      return
    }
    const files = MediaFiles.of(this.#client)
    const received = source instanceof Blob ? undefined : source
    const blob = source instanceof Blob ? source : await this.#sourceOf(job, received)
    if (this.#client.networkState === 'disconnected')
      throw new ClientError('SIGNED_OUT', 'another device is in use')
    const begun = job.record.begun ? { begun: job.record.begun } : {}
    const options = {
      id,
      ...reply,
      signal: job.abort.signal,
      onProgress: ({ doneBytes, totalBytes }: TransferProgress) => {
        const part = totalBytes ? doneBytes / totalBytes : 1
        job.progress.value = received ? 0.5 + part / 2 : part
      },
      ...(sealed ? { sealed: { blob: sealed, ...begun, onBegun: this.#begin(job) } } : {}),
    }
    // What its sender said of it is passed on: looking into it would decode what may be hostile.
    const said = received?.content
    // But not its preview, which may show something else.
    const image =
      received && said?.kind === 'image' ? { details: detailsOf(said), preview: false as const } : {}
    const text = job.words ?? (said && 'words' in said ? said.words : undefined)
    const words = text === undefined ? {} : { words: text }
    const waveform = said?.kind === 'voice' && said.waveform ? { waveform: said.waveform } : {}
    const durationMs = said?.kind === 'voice' ? said.durationMs : (job.durationMs ?? 0)
    const { media } = files
    const sent =
      kind === 'image'
        ? await media.sendImage(conversationId, blob, { ...options, ...image, ...words, isOriginal: true })
        : kind === 'voice'
          ? await media.sendVoice(conversationId, blob, durationMs, { ...options, ...waveform })
          : await media.sendFile(conversationId, blob, { ...options, ...words, name })
    if (kind !== 'file') files.get(conversationId, mediaKeyOf(sent)).put(blob)
  }

  /** Stores which upload at the relay it is, so that a later attempt continues it. */
  #begin(job: Job): (begun: BegunUpload) => Promise<void> {
    return async (begun) => {
      if (job.abort.signal.aborted) return
      job.record = { ...job.record, begun }
      await this.#kept.put(job.record)
    }
  }

  /** What is forwarded is downloaded, which is half of the work. A file from before a reload is opened. */
  async #sourceOf(job: Job, received: Received | undefined): Promise<Blob> {
    const files = MediaFiles.of(this.#client)
    const { signal } = job.abort
    if (received)
      return files.blobOf(received.conversationId, received.content.mediaKey, {
        signal,
        onProgress: ({ doneBytes, totalBytes }) => {
          job.progress.value = totalBytes ? doneBytes / totalBytes / 2 : 0
        },
      })
    const { sealed, kind, conversationId } = job
    if (!sealed) throw new ClientError('INVALID_ARGUMENT', 'this file is not on the device any more')
    // Nothing is read from a file to describe it.
    return kind === 'file' ? sealed : files.media.unseal(conversationId, sealed, { signal })
  }
}

function isSignedOut(error: unknown): boolean {
  return error instanceof ClientError && error.code === 'SIGNED_OUT'
}

/** The tab that sends something holds this lock. */
function lockOf(id: string): string {
  return `sotto upload ${id}`
}

/** Says that something was not sent, to somebody who looks elsewhere by now. */
function tell({ conversationId }: Job): void {
  if (route.value.path[1] === conversationId) return
  const t = texts.value.conversation
  const open = { label: t.open, run: () => go(href('chats', conversationId)) }
  notify(t.notSent, { kind: 'error', action: open })
}

/** What an image's message says of it, besides its size. */
function detailsOf({ width, height, thumbnail }: Extract<MediaContent, { kind: 'image' }>): ImageClaims {
  return {
    ...(width === undefined || height === undefined ? {} : { width, height }),
    ...(thumbnail === undefined ? {} : { thumbnail }),
  }
}

function mediaKeyOf(message: StoredMessage): string {
  const content = contentOf(message)
  return content && content.kind !== 'text' ? content.mediaKey : ''
}
