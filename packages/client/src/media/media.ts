// Media of a conversation: uploaded encrypted and named in a message, downloaded and shown only if they are what was sent.
import { isMediaKey } from '@sotto/crypto'
import { ClientError } from '../client-error.ts'
import type { AnyClient } from '../door.ts'
import type { SendOptions } from '../outbox.ts'
import type { StoredMessage } from '../stores/records.ts'
import { type DownloadedMedia, download } from './download.ts'
import { type ImageOptions, scaleImage } from './image.ts'
import type { MediaSource } from './pieces.ts'
import { intoBlob, type Spool } from './spool.ts'
import { Transfer, type TransferOptions } from './transfer.ts'
import { type UploadedMedia, upload } from './upload.ts'

const MOST_BYTES = 1024 * 1024 * 1024

/** How media are sent. */
export interface SendMediaOptions extends TransferOptions, SendOptions {}

/** How an image is sent. */
export interface SendImageOptions extends SendMediaOptions, ImageOptions {
  /** Sends the file as it is, with whatever the camera wrote into it. */
  readonly isOriginal?: boolean
}

/** How a file is sent. */
export interface SendFileOptions extends SendMediaOptions {
  /** What it is called; the file's own name unless told. */
  readonly name?: string
}

/** How media are downloaded. */
export interface DownloadOptions extends TransferOptions {
  /** The most bytes the blob may have; 1 GiB unless told. */
  readonly maxBytes?: number
}

/**
 * Images, files and voice messages, through a client: `const media = new Media(client)`. They are encrypted on this device
 * under the key of the conversation, 5 MiB at a time, however large they are; the relay keeps what it cannot read for 60
 * days, in the sender's room.
 *
 * What is under way goes on after cuts of the network and restarts of the relay, and is given up once nothing has worked for
 * two minutes. It ends where the client is locked or closed, and with the page: then it is to be begun anew.
 *
 * Every method throws what a call of the relay may (`NETWORK`, `REFUSED` with the relay's code, `NO_IDENTITY`, `LOCKED`, …),
 * `ABORTED`, `UNKNOWN_CONTACT` and `KEY_CHANGED`.
 */
export class Media {
  readonly #client: AnyClient

  constructor(client: AnyClient) {
    this.#client = client
  }

  /**
   * Uploads without sending: the key goes into a message by `client.send`, to this contact and no other. A blob cannot be
   * removed; the relay forgets it after 60 days.
   * @throws ClientError `REFUSED` with `STORAGE_FULL`, `PAYLOAD_TOO_LARGE`, `TOO_MANY_UPLOADS`, `MEDIA_UNAVAILABLE`
   */
  upload(contact: string, source: MediaSource, options: TransferOptions = {}): Promise<UploadedMedia> {
    return upload(new Transfer(this.#client, contact, options), source)
  }

  /**
   * Sends an image, made smaller first (`scaleImage`). Outside of browsers `isOriginal` has to be told.
   * @throws ClientError what `upload`, `scaleImage` and `client.send` throw
   */
  async sendImage(contact: string, image: Blob, options: SendImageOptions = {}): Promise<StoredMessage> {
    const { mediaKey } = await this.upload(
      contact,
      options.isOriginal ? image : await scaleImage(image, options),
      options,
    )
    return this.#client.send(contact, { kind: 'image', mediaKey }, sendOptionsOf(options))
  }

  /** Sends a file. @throws ClientError what `upload` and `client.send` throw, `INVALID_ARGUMENT` where it has no name */
  async sendFile(
    contact: string,
    source: MediaSource,
    options: SendFileOptions = {},
  ): Promise<StoredMessage> {
    const name = options.name ?? (source instanceof File ? source.name : '')
    if (name === '') throw new ClientError('INVALID_ARGUMENT', 'a file needs a name')
    const { mediaKey, sizeBytes } = await this.upload(contact, source, options)
    return this.#client.send(contact, { kind: 'file', mediaKey, name, sizeBytes }, sendOptionsOf(options))
  }

  /** Sends a voice message, `durationMs` long. @throws ClientError what `upload` and `client.send` throw */
  async sendVoice(
    contact: string,
    source: MediaSource,
    durationMs: number,
    options: SendMediaOptions = {},
  ): Promise<StoredMessage> {
    const { mediaKey } = await this.upload(contact, source, options)
    return this.#client.send(contact, { kind: 'voice', mediaKey, durationMs }, sendOptionsOf(options))
  }

  /**
   * Downloads what a message names: `contentOf(message)` has its `mediaKey`, `message.conversationId` is the contact. Resolves
   * once all of it is there and proven; of what is not, nothing is given out or left. The Blob has no type: what it holds
   * is the sender's word, and is not to be opened as a page.
   * @throws ClientError `MEDIA_ALTERED`, `MEDIA_TOO_LARGE`, `REFUSED` with `NOT_FOUND` where the relay has forgotten it
   */
  download(
    contact: string,
    content: { readonly mediaKey: string },
    options: DownloadOptions = {},
  ): Promise<DownloadedMedia<Blob>> {
    return this.downloadInto(contact, content, { ...options, into: intoBlob() })
  }

  /** The same into a place of the caller's, such as a file: `intoFile(path)`. One place for each download. */
  async downloadInto<T>(
    contact: string,
    { mediaKey }: { readonly mediaKey: string },
    options: DownloadOptions & { readonly into: Spool<T> },
  ): Promise<DownloadedMedia<T>> {
    if (!isMediaKey(mediaKey)) throw new ClientError('INVALID_ARGUMENT', 'this is no media key')
    const { into: spool, maxBytes = MOST_BYTES } = options
    return download(new Transfer(this.#client, contact, options), { mediaKey, spool, maxBytes })
  }
}

function sendOptionsOf({ id, replyToId }: SendOptions): SendOptions {
  return { ...(id === undefined ? {} : { id }), ...(replyToId === undefined ? {} : { replyToId }) }
}
