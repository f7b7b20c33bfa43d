// What the parts of one identity's client share.
import type { ClientFrame } from '@sotto/protocol'
import type { Emitter } from './events.ts'
import type { Journal } from './journal.ts'
import type { Platform } from './options.ts'
import type { Sessions } from './sessions.ts'
import type { ClientStore } from './stores/store.ts'

/** Handed to each part when it is made. */
export interface Context {
  readonly platform: Platform
  readonly store: ClientStore
  readonly journal: Journal
  readonly emitter: Emitter
  readonly sessions: Sessions
  /** Sends a frame, or answers false where there is no connection. */
  readonly send: (frame: ClientFrame) => boolean
  /** Gives up a connection that does not work. */
  readonly reopen: () => void
  /** Asks for the friend list soon: something came that it may explain. */
  readonly hintFriendSync: () => void
}
