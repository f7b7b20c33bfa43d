// Copies the client's events from the leader tab to the others, and checks each when it arrives.
import { ChannelPost, FriendProfile } from '@sotto/protocol'
import * as v from 'valibot'
import { ClientError } from '../client-error.ts'
import type { ClientEventName, ClientEvents } from '../events/events.ts'
import type { SecrecyNotice } from '../secrecy/secrecy.ts'
import { CallRecord, MessageStatus, StoredIdentity, StoredMessage } from '../stores/stores.ts'
import { CarriedError, carryError, toClientError } from './carried-error.ts'

/** The identity of this device without its phrase, which never leaves the leader tab. */
export const PublicIdentity = v.omit(StoredIdentity, ['mnemonic'])

/** A network state. */
export const NetworkState = v.picklist(['connected', 'connecting', 'disconnected'])

/** A notice is shown by its name; the rest of it is checked where it is made. */
const AnyNotice = v.looseObject({ tell: v.string() })

type Readers = { readonly [N in ClientEventName]: (carried: unknown) => ClientEvents[N] }

/** Reads an event that arrived on the channel; throws if it is not valid. */
export const readEvent: Readers = {
  changes: reader(
    v.array(
      v.object({
        kind: v.picklist(['messages', 'conversation', 'friends', 'calls', 'everything']),
        conversationId: v.exactOptional(v.string()),
      }),
    ),
  ),
  message: reader(StoredMessage),
  status_change: reader(v.object({ message: StoredMessage, previous: MessageStatus })),
  retracted: reader(StoredMessage),
  edited: reader(StoredMessage),
  reacted: reader(StoredMessage),
  network_state: reader(NetworkState),
  lock_state: reader(v.picklist(['locked', 'unlocked'])),
  identity_changed: reader(v.object({ identity: v.union([PublicIdentity, v.undefined()]) })),
  synced: reader(v.object({ count: v.number() })),
  channel_post: reader(v.object({ channelId: v.string(), post: ChannelPost })),
  typing: reader(v.object({ fromAliasId: v.string(), conversationId: v.string() })),
  goaway: reader(v.object({ reason: v.picklist(['new_device_login', 'jwt_revoked', 'account_deleted']) })),
  payment_confirmed: reader(
    v.object({ type: v.literal('payment_confirmed'), order_id: v.string(), ref_id: v.string() }),
  ),
  security_violation: reader(
    v.object({
      type: v.literal('security_violation'),
      contactId: v.string(),
      previousFingerprint: v.string(),
      currentFingerprint: v.string(),
      detectedAt: v.number(),
      message: v.null(),
    }),
  ),
  secrecy: reader(
    v.object({
      conversationId: v.string(),
      notice: v.custom<SecrecyNotice>((value) => v.is(AnyNotice, value)),
    }),
  ),
  friend_request: reader(FriendProfile),
  friend_accepted: reader(FriendProfile),
  call_waiting: reader(v.object({ callId: v.string() })),
  call_logged: reader(CallRecord),
  error: reader(v.pipe(CarriedError, v.transform(toClientError))),
}

function reader<T>(schema: v.GenericSchema<unknown, T>): (carried: unknown) => T {
  return (carried) => v.parse(schema, carried)
}

/** Whether a word is the name of an event. */
export function isEventName(word: string): word is ClientEventName {
  return Object.hasOwn(readEvent, word)
}

/** The name of every event. */
export const eventNames: readonly ClientEventName[] = Object.keys(readEvent).filter(isEventName)

/** The form in which an event crosses the channel: a copy of an error, any other event as it is. */
export function carryEvent<N extends ClientEventName>(event: ClientEvents[N]): unknown {
  return event instanceof ClientError ? carryError(event) : event
}
