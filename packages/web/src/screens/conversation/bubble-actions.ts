// What a person can ask of a message where it is shown.
import type { ReadonlySignal } from '@preact/signals'
import type { StoredMessage } from '@sotto/client'
import type { Place } from '../../parts/menu-place.ts'
import type { TextPart } from './links.ts'

/** What a person can ask of a message. */
export interface BubbleActions {
  /** Shows what can be done with it. */
  readonly onMenu: (message: StoredMessage, place: Place) => void
  readonly onReply: (message: StoredMessage) => void
  /** Reacts with an emoji, or takes the reaction back if it is the one of this account. */
  readonly onReact: (message: StoredMessage, emoji: string) => void
  /** Whether one can react in this conversation now. */
  readonly canReact: ReadonlySignal<boolean>
  /** Goes to the message that it replies to. */
  readonly onOriginal: (original: StoredMessage) => void
  readonly onSelect: (message: StoredMessage) => void
  /** Follows a link whose address is not what it seems. */
  readonly onMisleadingLink: (link: Required<TextPart>) => void
  /** The message that this one replies to. */
  readonly findOriginal: (message: StoredMessage) => Promise<StoredMessage | undefined>
  /** Changes when originals must be found again. */
  readonly revision: ReadonlySignal<number>
}
