// What is being sent besides text: one after the other, so that it arrives in the chosen order.
import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { type Client, contentOf, type StoredMessage } from '@sotto/client'
import { MediaFiles } from './media-files.ts'

/** What is sent. */
export interface Sendable {
  readonly kind: 'image' | 'file' | 'voice'
  readonly conversationId: string
  /** It is sent as it is: an image was made smaller before. */
  readonly blob: Blob
  readonly name: string
  /** The length of a voice message in milliseconds. */
  readonly durationMs?: number
  readonly replyToId?: string
}

/** Something that is being sent, waits for it, or could not be sent. */
export interface Upload extends Sendable {
  readonly id: number
  /** How much is done, from 0 to 1. */
  readonly progress: ReadonlySignal<number>
  /** Why it was not sent. */
  readonly error: ReadonlySignal<unknown>
}

interface Job extends Upload {
  readonly progress: Signal<number>
  readonly error: Signal<unknown>
  abort: AbortController
}

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
  readonly #list = signal<readonly Job[]>([])
  #latest = 0
  #isRunning = false

  private constructor(client: Client) {
    this.#client = client
    client.on('lock_state', () => this.#drop(() => true))
    client.on('identity_changed', () => this.#drop(() => true))
    addEventListener('beforeunload', (event) => {
      // The browser asks the user: an upload ends with the page.
      if (this.#list.value.length > 0) event.preventDefault()
    })
  }

  get list(): ReadonlySignal<readonly Upload[]> {
    return this.#list
  }

  /** Sends something after all that was chosen before. */
  add(sendable: Sendable): void {
    this.#latest += 1
    const job: Job = {
      ...sendable,
      id: this.#latest,
      progress: signal(0),
      error: signal(undefined),
      abort: new AbortController(),
    }
    this.#list.value = [...this.#list.value, job]
    void this.#run()
  }

  /** Sends what failed once more. */
  retry(id: number): void {
    const job = this.#list.value.find((each) => each.id === id)
    if (!job) return
    job.abort = new AbortController()
    job.progress.value = 0
    job.error.value = undefined
    void this.#run()
  }

  /** Stops an upload, or forgets one that failed. */
  cancel(id: number): void {
    this.#drop((job) => job.id === id)
  }

  #drop(isMeant: (job: Job) => boolean): void {
    for (const job of this.#list.value) if (isMeant(job)) job.abort.abort()
    this.#list.value = this.#list.value.filter((job) => !isMeant(job))
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    for (;;) {
      const job = this.#list.value.find(({ error }) => error.value === undefined)
      if (!job) break
      try {
        await this.#send(job)
        this.#list.value = this.#list.value.filter((each) => each !== job)
      } catch (error) {
        // What was cancelled is not in the list any more.
        job.error.value = error
      }
    }
    this.#isRunning = false
  }

  async #send(job: Job): Promise<void> {
    const files = MediaFiles.of(this.#client)
    const { kind, conversationId, blob, name, durationMs = 0, replyToId } = job
    const options = {
      signal: job.abort.signal,
      onProgress: ({ doneBytes }: { readonly doneBytes: number }) => {
        job.progress.value = blob.size === 0 ? 1 : doneBytes / blob.size
      },
      ...(replyToId === undefined ? {} : { replyToId }),
    }
    const sent = await {
      image: () => files.media.sendImage(conversationId, blob, { ...options, isOriginal: true }),
      file: () => files.media.sendFile(conversationId, blob, { ...options, name }),
      voice: () => files.media.sendVoice(conversationId, blob, durationMs, options),
    }[kind]()
    if (kind !== 'file') files.get(conversationId, mediaKeyOf(sent)).put(blob)
  }
}

function mediaKeyOf(message: StoredMessage): string {
  const content = contentOf(message)
  return content && content.kind !== 'text' ? content.mediaKey : ''
}
