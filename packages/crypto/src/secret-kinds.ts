// The kinds of content of a version 3 message, and their bounds.
import type { UnknownMember } from './content-members.ts'

/** The most bytes of an encoded content. With what encryption adds, it fits into a message. */
export const MAX_SECRET_CONTENT_BYTES = 45_056
/** The most bytes of the UTF-8 of a text or caption. */
export const MAX_SECRET_TEXT_BYTES = 43_000

/** What every content has. */
interface Common {
  /**
   * Members that a later version added. They are kept, so that they are not lost when the content is encoded
   * again.
   */
  readonly unknown?: readonly UnknownMember[] | undefined
}

/** A content that can answer a message. */
export interface Reply {
  /** The id of the message it answers. */
  readonly replyToId?: string | undefined
}

/** A file among the relay's media, and the key that it alone is encrypted with (`file-key.ts`). */
export interface SealedFile {
  readonly mediaKey: string
  /** 32 bytes. */
  readonly fileKey: Uint8Array
  /** The bytes of the file before encryption. */
  readonly sizeBytes: number
}

/**
 * A preview: a file of its own, or a JPEG of at most 16 KiB, 320 pixels wide and high, inside the message.
 */
export type SecretPreview =
  | ({ readonly place: 'file' } & SealedFile)
  | { readonly place: 'inside'; readonly jpeg: Uint8Array }

/** A text by a person. */
export interface SecretText extends Common, Reply {
  readonly kind: 'text'
  readonly text: string
  /** The `at` of its last edit, if it was edited before this was sent. */
  readonly at?: number | undefined
}

/**
 * What a file's message says under version 1, of a file that was encrypted with the conversation's one key:
 * one that was uploaded before the conversation had version 3.
 */
export interface SecretTextForm extends Common {
  readonly kind: 'text_form'
  /** As `encodeContent` gives it. */
  readonly text: string
}

/** A new text for an earlier message of the same sender. */
export interface SecretEdit extends Common {
  readonly kind: 'edit'
  readonly messageId: string
  readonly text: string
  /** Milliseconds since 1970 by the sender's clock, more than at the edit before. The latest edit counts. */
  readonly at: number
}

/** The sender's reaction to a message of either side, which takes the place of its reaction before. */
export interface SecretReaction extends Common {
  readonly kind: 'reaction'
  readonly messageId: string
  /** Whether the message is the sender's own. Both sides choose ids, so both may have one with this id. */
  readonly isOwn: boolean
  /** Usually one emoji; at most 64 bytes. Without one, the reaction is taken back. */
  readonly reaction?: string | undefined
  /** As of an edit: the latest reaction counts. */
  readonly at: number
}

/** The deletion of an earlier message of the same sender. */
export interface SecretDeletion extends Common {
  readonly kind: 'deletion'
  readonly messageId: string
}

/** An image or another file. Name, size and dimensions are the sender's claims. */
export interface SecretAttachment extends Common, Reply, SealedFile {
  readonly kind: 'attachment'
  readonly isImage: boolean
  readonly name?: string | undefined
  /** Pixels, from 1 to 65,535. */
  readonly dimensions?: { readonly width: number; readonly height: number } | undefined
  readonly preview?: SecretPreview | undefined
  readonly caption?: string | undefined
}

/** A voice message. */
export interface SecretVoice extends Common, Reply, SealedFile {
  readonly kind: 'voice'
  readonly durationMs: number
  /** The loudness over time: 1 to 64 whole numbers from 0 to 100. */
  readonly waveform?: readonly number[] | undefined
}

/**
 * What the sender wants to be called and to look like, all of it: what is missing is taken back. An empty one
 * takes everything back.
 */
export interface SecretProfile extends Common {
  readonly kind: 'profile'
  /** As of an edit: the latest profile counts. */
  readonly at: number
  readonly name?: string | undefined
  readonly picture?: SealedFile | undefined
}

/** A content of a later format, or of a kind that this version does not know. */
export interface SecretUnknown {
  readonly kind: 'unknown'
  /** The whole encoding. */
  readonly bytes: Uint8Array
}

/** The content of a version 3 message. */
export type SecretContent =
  | SecretText
  | SecretTextForm
  | SecretEdit
  | SecretReaction
  | SecretDeletion
  | SecretAttachment
  | SecretVoice
  | SecretProfile
  | SecretUnknown

/** A content whose members this version knows. */
export type KnownContent = Exclude<SecretContent, SecretUnknown>
