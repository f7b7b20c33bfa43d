// The media that this page has downloaded. They are in memory only, and gone with the page or the lock.
import { type ReadonlySignal, signal } from '@preact/signals'
import { type Client, ClientError, type DownloadOptions, Media } from '@sotto/client'

/** Files that are not shown stay for scrolling back, the latest ones, up to this size in all, in bytes. */
const KEPT_BYTES = 64 * 1024 * 1024
/** The most bytes of a preview that is a file of its own. */
export const MAX_PREVIEW_BYTES = 512 * 1024
/** How many downloads run at once. */
const AT_ONCE = 3

/** How far a download is. */
export type MediaFileState =
  | { readonly kind: 'none' }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'loading'; readonly doneBytes: number; readonly totalBytes: number | undefined }
  | {
      readonly kind: 'ready'
      readonly blob: Blob
      /** Whether the relay and the sender's app prove that nothing is missing. */
      readonly isProven: boolean
    }
  | { readonly kind: 'failed'; readonly error: unknown }

/** One file of a message. */
export class MediaFile {
  readonly #files: MediaFiles
  readonly #source: { readonly contact: string; readonly mediaKey: string }
  readonly #state = signal<MediaFileState>({ kind: 'none' })
  #abort: AbortController | undefined
  #url: string | undefined
  /** How many parts of the page show it. */
  holders = 0

  constructor(files: MediaFiles, source: { readonly contact: string; readonly mediaKey: string }) {
    this.#files = files
    this.#source = source
  }

  get state(): ReadonlySignal<MediaFileState> {
    return this.#state
  }

  /** The size of what is in memory. */
  get sizeBytes(): number {
    return this.#state.value.kind === 'ready' ? this.#state.value.blob.size : 0
  }

  /** Downloads it, if that is not done or under way. Failures are a state. */
  async load(maxBytes?: number): Promise<void> {
    const { kind } = this.#state.value
    if (kind !== 'none' && kind !== 'failed') return
    const abort = new AbortController()
    this.#abort = abort
    this.#state.value = { kind: 'waiting' }
    try {
      await this.#files.inTurn(async () => {
        if (abort.signal.aborted) return
        const { contact, mediaKey } = this.#source
        const { data, isProven } = await this.#files.media.download(
          contact,
          { mediaKey },
          {
            ...(maxBytes === undefined ? {} : { maxBytes }),
            signal: abort.signal,
            onProgress: (progress) => {
              if (!abort.signal.aborted) this.#state.value = { kind: 'loading', ...progress }
            },
          },
        )
        if (!abort.signal.aborted) this.#state.value = { kind: 'ready', blob: data, isProven }
      })
    } catch (error) {
      if (!abort.signal.aborted) this.#state.value = { kind: 'failed', error }
    }
  }

  /** Adds a file that was just sent, which needs no download. */
  put(blob: Blob): void {
    this.forget()
    this.#state.value = { kind: 'ready', blob, isProven: true }
  }

  /** Stops a download. */
  cancel(): void {
    this.#abort?.abort()
    if (this.#state.value.kind !== 'ready') this.#state.value = { kind: 'none' }
  }

  /** An address of it as this type. It is revoked by {@link forget}. */
  url(type: string): string | undefined {
    const state = this.#state.value
    if (state.kind === 'ready') this.#url ??= URL.createObjectURL(new Blob([state.blob], { type }))
    return this.#url
  }

  /** Takes it out of memory. */
  forget(): void {
    this.cancel()
    if (this.#url !== undefined) URL.revokeObjectURL(this.#url)
    this.#url = undefined
    this.#state.value = { kind: 'none' }
  }
}

/** All files that the page has or had. */
export class MediaFiles {
  static readonly #all = new WeakMap<Client, MediaFiles>()

  /** The files of a client: the same ones for every part of the page. */
  static of(client: Client): MediaFiles {
    const files = MediaFiles.#all.get(client) ?? new MediaFiles(client)
    MediaFiles.#all.set(client, files)
    return files
  }

  readonly media: Media
  readonly #files = new Map<string, MediaFile>()
  readonly #waiting: (() => void)[] = []
  #running = 0

  private constructor(client: Client) {
    this.media = new Media(client)
    client.on('lock_state', () => this.clear())
    client.on('identity_changed', () => this.clear())
  }

  /** The file of a message in a conversation. */
  get(contact: string, mediaKey: string): MediaFile {
    const key = `${contact} ${mediaKey}`
    const file = this.#files.get(key) ?? new MediaFile(this, { contact, mediaKey })
    this.#files.set(key, file)
    return file
  }

  /** The file's content: what is in memory, or else downloaded, and not kept. @throws ClientError */
  async blobOf(contact: string, mediaKey: string, options: DownloadOptions = {}): Promise<Blob> {
    const { state } = this.get(contact, mediaKey)
    if (state.value.kind === 'ready') return state.value.blob
    return (await this.media.download(contact, { mediaKey }, options)).data
  }

  /** Says that something shows the file. Call the result when it does not any more. */
  hold(file: MediaFile): () => void {
    file.holders += 1
    return () => {
      file.holders -= 1
      if (file.holders > 0) return
      file.cancel()
      this.#shrink()
    }
  }

  /** The size of all that is in memory. */
  get sizeBytes(): number {
    return [...this.#files.values()].reduce((sum, file) => sum + file.sizeBytes, 0)
  }

  /** Takes everything out of memory. What is shown is downloaded again when it is next asked for. */
  clear(): void {
    for (const [name, file] of this.#files) {
      file.forget()
      // The name may hold the key of the file.
      if (file.holders === 0) this.#files.delete(name)
    }
  }

  /** Does a download when there is room for it. */
  async inTurn(work: () => Promise<void>): Promise<void> {
    while (this.#running >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#running += 1
    try {
      await work()
    } finally {
      this.#running -= 1
      this.#waiting.shift()?.()
    }
  }

  #shrink(): void {
    let room = KEPT_BYTES
    for (const [key, file] of [...this.#files].reverse()) {
      if (file.holders > 0) continue
      room -= file.sizeBytes
      if (room >= 0 && file.sizeBytes > 0) continue
      file.forget()
      this.#files.delete(key)
    }
  }
}

/** Whether a download failed only because it is larger than what is loaded without asking. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof ClientError && error.code === 'MEDIA_TOO_LARGE'
}
