// How nodes tell each other that something happened. A doorbell, not a store: a lost ring delays, never loses.
import type { AccountId } from '../storage/storage.ts'

/** Something an account's connection should hear of at once, wherever it is held. */
export type Ring =
  /** Stored frames from `firstPosition` to `lastPosition` of its mailbox, encoded, in order. */
  | {
      readonly kind: 'mailbox'
      readonly firstPosition: number
      readonly lastPosition: number
      readonly frames: readonly string[]
      readonly bytes: number
      readonly hasRetractions: boolean
    }
  /** A frame that is kept nowhere or kept elsewhere: a hint, a receipt, a typing notice. */
  | { readonly kind: 'frame'; readonly frame: string }
  /** A signal of a call: kept nowhere, and lost to a reader that is too far behind. */
  | { readonly kind: 'signal'; readonly frame: string }
  /** A receipt mark: kept in the store until it is known to have arrived. */
  | {
      readonly kind: 'receipt'
      readonly frame: string
      readonly conversation: number
      readonly deliveredSeq: number
      readonly readSeq: number
    }
  /** A frame that is kept in the store, outside the mailbox's order, until it is known to have arrived. */
  | { readonly kind: 'notice'; readonly id: number; readonly frame: string }
  /** The account connected anew; any older connection has to go. */
  | { readonly kind: 'connected'; readonly connection: string; readonly jti: string }
  /** The token died; a connection opened with it has to go. */
  | { readonly kind: 'token_dead'; readonly jti: string }
  /** The account was deleted. */
  | { readonly kind: 'deleted' }
  /** From here on the account hears, or does not hear, what is published under a topic. */
  | { readonly kind: 'topic'; readonly topic: string; readonly isWanted: boolean }

/** Rings and hears them. */
export interface Bus {
  ring(account: AccountId, ring: Ring): void
  /** Hears every ring for accounts this node holds. Called once, when the relay is put together. */
  listen(hear: (account: AccountId, ring: Ring) => void): void
  /** Tells every connection on a topic, on whichever node. Kept nowhere: who is not there does not hear it. */
  publish(topic: string, frame: string): void
  /** Hears everything published. Called once, when the relay is put together. */
  listenToTopics(hear: (topic: string, frame: string) => void): void
}
