// What version 3 works with: parts of the engine of one identity.
import type { IdentityKeys } from '@sotto/crypto'
import type { Sessions } from '../contacts/contacts.ts'
import type { Emitter } from '../events/events.ts'
import type { Confirmations } from '../messages/confirmations.ts'
import type { Outbox } from '../messages/outbox.ts'
import type { Settings } from '../messages/settings.ts'
import type { Platform } from '../platform/platform.ts'
import type { ClientStore, Journal, SessionRecord } from '../stores/stores.ts'
import type { Http, SendFrame } from '../wire/wire.ts'

/** What the part works with: parts of the engine of one identity. */
export interface ForwardContext {
  readonly platform: Platform
  readonly store: ClientStore
  readonly journal: Pick<Journal, 'write'>
  readonly emitter: Pick<Emitter, 'emit'>
  readonly sessions: Pick<
    Sessions,
    'noteSecrecy' | 'find' | 'get' | 'guard' | 'changedCode' | 'isCurrent' | 'keyOf' | 'list'
  >
  readonly http: Pick<Http, 'call'>
  readonly outbox: Outbox
  readonly confirmations: Confirmations
  readonly settings: Pick<Settings, 'woken'>
  readonly keys: IdentityKeys
  readonly send: SendFrame
  /** Whether a contact speaks version 3. Asks the relay if this device may have lost that it does. */
  readonly speaks: (session: SessionRecord) => Promise<boolean>
  /** Fetches the friend list soon. */
  readonly hintFriendSync: () => void
  /** Asks the relay for everything that is not confirmed. */
  readonly sync: () => void
  /** Makes the end of the engine wait for this work. */
  readonly work: <T>(work: Promise<T>) => Promise<T>
}
