// What people send besides text that they type.
import type { BegunUpload, MessageContent } from '@sotto/client'

/** The content of a message with media. */
export type MediaContent = Exclude<MessageContent, { kind: 'text' }>

/** Something that came in a conversation. The keys of another one do not open it there: it is sent again. */
export interface Received {
  readonly conversationId: string
  readonly content: MediaContent
}

/** What is sent. */
export interface Sendable {
  readonly kind: 'text' | 'image' | 'file' | 'voice'
  readonly conversationId: string
  /** It is sent as it is: an image was made smaller before. */
  readonly source: Blob | Received | string
  readonly name: string
  /** The length of a voice message in milliseconds. */
  readonly durationMs?: number
  readonly replyToId?: string
  /** What the user wrote to an image or a file. */
  readonly words?: string
}

/** The beginning of the names of what is stored of it. */
export const UPLOADS = 'upload/'

/** What is stored of it until it is sent. */
export interface UploadRecord extends Omit<Sendable, 'source'> {
  /** The id of the message that it becomes, so that it is sent once. */
  readonly id: string
  /** Orders what is sent, in milliseconds since 1970. */
  readonly addedAt: number
  /** Absent if it is a file, which is kept beside the record. */
  readonly source?: Received | string
  /** The upload at the relay, if it was begun. */
  readonly begun?: BegunUpload
}
