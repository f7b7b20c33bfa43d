// The media of conversations: uploads them encrypted and sends their key in a message, downloads and verifies
// them.
import {
  bareMediaKey,
  type FileContent,
  type ImageContent,
  type ImageDetails,
  isMediaKey,
  parseSealedFile,
} from '@sotto/crypto'
import { ClientError } from '../client-error.ts'
import type { SendOptions } from '../messages/messages.ts'
import type { AnyClient } from '../module-access.ts'
import type { StoredMessage } from '../stores/stores.ts'
import { type DownloadedMedia, download } from './download.ts'
import { describeImage, type ImageOptions, previewOf, scaleImage } from './image.ts'
import type { MediaSource } from './pieces.ts'
import { type SealedSource, seal, unseal } from './sealed.ts'
import { intoBlob, type Spool } from './spool.ts'
import { Transfer, type TransferOptions } from './transfer.ts'
import { type UploadedMedia, upload } from './upload.ts'
import { describeVoice } from './waveform.ts'

export type { DownloadedMedia } from './download.ts'
export { type ImageOptions, scaleImage } from './image.ts'
export { mediaPassOf } from './media-pass.ts'
export type { MediaSource } from './pieces.ts'
export type { BegunUpload, SealedSource } from './sealed.ts'
export { intoBlob, type Spool } from './spool.ts'
export type { TransferOptions, TransferProgress } from './transfer.ts'
export type { UploadedMedia } from './upload.ts'
export { waveformOf } from './waveform.ts'

const MAX_BYTES = 1024 * 1024 * 1024
/** Beside the details that are found of an image, they fit into a message. */
const MAX_WORDS_BYTES = 40_000

/** Options of uploads. */
export interface UploadOptions extends TransferOptions {
  /**
   * The same source, sealed before (`seal`): it is sent instead, and the source only described. If such an
   * upload fails, the relay keeps what has arrived for a day, and a second attempt continues there.
   */
  readonly sealed?: SealedSource
}

/** Options of sending media. */
export interface SendMediaOptions extends UploadOptions, SendOptions {}

/** What people write to an image or a file. */
export interface WordsOption {
  /**
   * At most 40,000 bytes. With forward secrecy they are a part of the message. Otherwise they go as a
   * message of their own, before the file: it has the reply, and the id with `-words` behind it, for which
   * an id of up to 122 characters leaves room.
   */
  readonly words?: string
}

/** Options of `sendImage`. */
export interface SendImageOptions extends SendMediaOptions, ImageOptions, WordsOption {
  /** Sends the file unchanged, with everything that the camera wrote into it. */
  readonly isOriginal?: boolean
  /**
   * What the message says of the image. In browsers it is found by itself: dimensions and a thumbnail of 32
   * pixels. The size in bytes is always found.
   */
  readonly details?: Omit<ImageDetails, 'sizeBytes'>
  /**
   * A larger preview, which is seen before the image is loaded: a file of its own, uploaded first, with a key
   * of its own. It takes the place of the thumbnail. Only with forward secrecy. In browsers it is made by
   * itself for images of 512 KiB and more: 640 pixels, at most 256 KiB. `false` sends none.
   */
  readonly preview?: Blob | false
}

/** Options of `sendVoice`. */
export interface SendVoiceOptions extends SendMediaOptions {
  /**
   * The loudness over time, 1 to 64 whole numbers from 0 to 100 (`waveformOf`). In pages it is found by
   * itself, for recordings of up to 15 minutes and 16 MiB that the browser can decode.
   */
  readonly waveform?: readonly number[]
}

/** Options of `sendFile`. */
export interface SendFileOptions extends SendMediaOptions, WordsOption {
  /** The name that the contact sees. The default is the file's name. */
  readonly name?: string
}

/** Options of downloads. */
export interface DownloadOptions extends TransferOptions {
  /** The maximum size of the blob in bytes; 1 GiB by default. */
  readonly maxBytes?: number
}

/**
 * Images, files and voice messages, through a client: `const media = new Media(client)`. They are encrypted
 * on this device, 5 MiB at a time, so that large files need little memory. Where messages have forward
 * secrecy, each file has a random key of its own, which only its message has. Otherwise it is encrypted with
 * the key of the conversation. The relay cannot read them. It keeps them for 60 days, in the sender's quota.
 *
 * A transfer continues after network failures and restarts of the relay. It fails once nothing has worked for
 * two minutes. It also ends when the client is locked or closed, or the page is closed. Then it has to be
 * started again; an upload of a sealed source continues (`seal`). An upload ends in the same way, with
 * `SIGNED_OUT`, when another device replaces this one.
 *
 * Every method throws the errors of a call to the relay (`NETWORK`, `REFUSED` with the relay's code,
 * `NO_IDENTITY`, `LOCKED`, …), `ABORTED`, `UNKNOWN_CONTACT` and `KEY_CHANGED`.
 */
export class Media {
  readonly #client: AnyClient

  constructor(client: AnyClient) {
    this.#client = client
  }

  /**
   * Uploads without sending. `client.send` then sends the key, to this contact only. A blob cannot be
   * deleted; the relay deletes it after 60 days.
   * @throws ClientError `REFUSED` with `STORAGE_FULL`, `PAYLOAD_TOO_LARGE`, `TOO_MANY_UPLOADS`,
   *   `MEDIA_UNAVAILABLE`, `INVALID_ARGUMENT`
   */
  upload(contact: string, source: MediaSource, options: UploadOptions = {}): Promise<UploadedMedia> {
    return upload(new Transfer(this.#client, contact, options), source, options.sealed)
  }

  /**
   * Encrypts a source for a contact into a spool, such as a file, so that its upload can continue after the
   * program was started again: keep the result until it is sent, and pass it as `sealed`. It reveals nothing
   * without the key of the conversation. If messages to the contact have forward secrecy, the upload
   * opens it and encrypts it with a new key of the file.
   */
  seal<T>(
    contact: string,
    source: MediaSource,
    options: TransferOptions & { readonly into: Spool<T> },
  ): Promise<T> {
    return seal(new Transfer(this.#client, contact, options), source, options.into)
  }

  /** The source that `seal` has sealed for this contact. `KEY_CHANGED` if the session was renewed since. */
  unseal(contact: string, sealed: Blob, options: TransferOptions = {}): Promise<Blob> {
    return unseal(new Transfer(this.#client, contact, options), sealed)
  }

  /**
   * Makes an image smaller (`scaleImage`) and sends it. Outside of browsers `isOriginal` is required.
   * @throws ClientError as `upload`, `scaleImage` and `client.send` do, `MESSAGE_TOO_LARGE` for long words
   */
  async sendImage(contact: string, image: Blob, options: SendImageOptions = {}): Promise<StoredMessage> {
    checkWords(options)
    const source = options.isOriginal ? image : await scaleImage(image, options)
    const details = options.details ?? (await describeImage(source))
    const previewKey = await this.#uploadPreview(
      contact,
      options.preview ?? (() => previewOf(source)),
      options,
    )
    const { mediaKey, sizeBytes } = await this.upload(contact, source, options)
    const larger = previewKey !== undefined && parseSealedFile(mediaKey) ? { previewKey } : {}
    return this.#send(contact, { kind: 'image', mediaKey, ...details, ...larger, sizeBytes }, options)
  }

  /**
   * Sends a file.
   * @throws ClientError as `upload` and `client.send` do, `INVALID_ARGUMENT` without a name,
   *   `MESSAGE_TOO_LARGE` for long words
   */
  async sendFile(
    contact: string,
    source: MediaSource,
    options: SendFileOptions = {},
  ): Promise<StoredMessage> {
    const name = options.name ?? (source instanceof File ? source.name : '')
    if (name === '') throw new ClientError('INVALID_ARGUMENT', 'a file needs a name')
    checkWords(options)
    const { mediaKey, sizeBytes } = await this.upload(contact, source, options)
    return this.#send(contact, { kind: 'file', mediaKey, name, sizeBytes }, options)
  }

  /** Sends a voice message of `durationMs`. @throws ClientError as `upload` and `client.send` do */
  async sendVoice(
    contact: string,
    source: MediaSource,
    durationMs: number,
    options: SendVoiceOptions = {},
  ): Promise<StoredMessage> {
    const waveform = options.waveform ?? (await describeVoice(source, durationMs))
    const { mediaKey } = await this.upload(contact, source, options)
    const content = { kind: 'voice', mediaKey, durationMs, ...(waveform && { waveform }) } as const
    return this.#client.send(contact, content, sendOptionsOf(options))
  }

  /**
   * Downloads the media of a message: `contentOf(message)` has its `mediaKey`, `message.conversationId` is
   * the contact. Resolves once the file is complete and verified. If that fails, returns nothing and keeps
   * nothing. The Blob has no type, because its type is only the sender's claim: do not open it as a page.
   * @throws ClientError `MEDIA_ALTERED`, `MEDIA_TOO_LARGE`, `REFUSED` with `NOT_FOUND` if the relay has
   *   deleted it
   */
  download(
    contact: string,
    content: { readonly mediaKey: string },
    options: DownloadOptions = {},
  ): Promise<DownloadedMedia<Blob>> {
    return this.downloadInto(contact, content, { ...options, into: intoBlob() })
  }

  /**
   * The same into a spool of the caller's choice, such as a file: `intoFile(path)`. Use a new spool for each
   * download.
   */
  async downloadInto<T>(
    contact: string,
    { mediaKey }: { readonly mediaKey: string },
    options: DownloadOptions & { readonly into: Spool<T> },
  ): Promise<DownloadedMedia<T>> {
    if (!isMediaKey(typeof mediaKey === 'string' && bareMediaKey(mediaKey)))
      throw new ClientError('INVALID_ARGUMENT', 'invalid media key')
    const { into: spool, maxBytes = MAX_BYTES } = options
    return download(new Transfer(this.#client, contact, options), { mediaKey, spool, maxBytes })
  }

  /** The media key of a preview, which comes first, so that its failure costs little. */
  async #uploadPreview(
    contact: string,
    preview: Blob | false | (() => Promise<Blob | undefined>),
    { signal }: TransferOptions,
  ): Promise<string | undefined> {
    if (preview === false) return undefined
    const options = signal ? { signal } : {}
    const hasForwardSecrecy = await new Transfer(this.#client, contact, options).withKey(
      async (_, has) => has,
    )
    if (!hasForwardSecrecy) return undefined
    const source = typeof preview === 'function' ? await preview() : preview
    if (!source) return undefined
    const { mediaKey } = await this.upload(contact, source, options)
    return parseSealedFile(mediaKey) ? mediaKey : undefined
  }

  /** Sends what was uploaded, with its words or after them. */
  async #send(
    contact: string,
    content: ImageContent | FileContent,
    options: SendOptions & WordsOption,
  ): Promise<StoredMessage> {
    const { words: text = '' } = options
    const { id, ...reply } = sendOptionsOf(options)
    const ids = id === undefined ? {} : { id }
    if (text === '') return this.#client.send(contact, content, { ...ids, ...reply })
    if (parseSealedFile(content.mediaKey))
      return this.#client.send(contact, { ...content, words: text }, { ...ids, ...reply })
    // Nothing is sent twice when this is repeated.
    const wordsId = id === undefined ? {} : { id: `${id}-words` }
    await this.#client.send(contact, { text }, { ...wordsId, ...reply })
    return this.#client.send(contact, content, ids)
  }
}

function checkWords({ words = '' }: WordsOption): void {
  if (typeof words !== 'string') throw new ClientError('INVALID_ARGUMENT', 'words are a text')
  if (new TextEncoder().encode(words).length > MAX_WORDS_BYTES)
    throw new ClientError('MESSAGE_TOO_LARGE', 'these words are too long to be sent')
}

function sendOptionsOf({ id, replyToId }: SendOptions): SendOptions {
  return { ...(id === undefined ? {} : { id }), ...(replyToId === undefined ? {} : { replyToId }) }
}
