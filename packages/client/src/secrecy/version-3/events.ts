// What goes into the course of a conversation, and what comes out: events and steps.

/** One key package of the peer, as the relay gave it out. */
export interface ClaimedKeyPackage {
  readonly device: string
  readonly package: Uint8Array
}

/** A key package of this device with its secrets, and the leaf that it is made of. */
export interface OwnKeyPackage {
  readonly keyPackage: Uint8Array
  readonly secrets: Uint8Array
}

/** A `msg` frame of `crypto_v` 3 from the peer. */
export interface FrameEvent {
  readonly type: 'frame'
  readonly id: string
  readonly seq: number
  readonly epoch: number
  readonly isHandshake: boolean
  readonly payload: Uint8Array
  /** Whether the history has a message of the peer with this id: shown, removed, or told as unreadable. */
  readonly isKnown: boolean
}

/**
 * A message that the user, or `again`, wants to send; the first of the conversation that has no ciphertext.
 */
export interface SendEvent {
  readonly type: 'send'
  readonly id: string
  /** The encoded content. */
  readonly body: Uint8Array
  /** The id of the earlier message that this one repeats, from `again`. */
  readonly resends?: string
  /** The id of the own message that this one deletes, if it deletes one. */
  readonly deletes?: string
  /** It is not in the outbox yet, and is not sent again after a join: `again` never names it. */
  readonly isHidden?: boolean
}

/** The answer of `GET /conversations/{conv_id}/group`. */
export interface GroupEvent {
  readonly type: 'group'
  readonly epoch: number
  readonly groupInfo?: Uint8Array
  /** The `seq` of this account's last message of version 3 in the conversation, if the relay says it. */
  readonly sentSeq?: number
}

/**
 * What happens to a conversation. Every event may be repeated, and may come at any time.
 *
 * - `peer_speaks`: the contact announced version 3.
 * - `synced`: a `sync_end` arrived: every message that waited has been given to the course. `isDoubtful` says
 *   that another device of this account may have been connected since the last one.
 * - `down`: the connection is lost.
 * - `accepted`: the relay's `ack` of a message or handshake.
 * - `stale`: the relay's `EPOCH_STALE` with the present epoch.
 * - `failed`: a message or handshake will never be sent: refused for good, withdrawn, or expired.
 * - `key_packages`: the answer of the claim.
 * - `call`: the user calls the contact, which needs a group that is surely the present one.
 * - `unanswered`: a request of `ask` failed. It is asked for again when there is reason to.
 * - `tick`: time has passed; once in ten seconds is enough.
 * - `use_this_device`: the user's word that this device shall take over, or rejoin once more.
 * - `allow_rejoins`: the user's word that the contact may go on rejoining.
 */
export type CourseEvent =
  | { readonly type: 'peer_speaks' }
  | { readonly type: 'synced'; readonly incarnation?: string; readonly isDoubtful?: boolean }
  | { readonly type: 'down' }
  | SendEvent
  | { readonly type: 'accepted'; readonly id: string; readonly seq: number }
  | { readonly type: 'stale'; readonly id: string; readonly epoch: number }
  | { readonly type: 'failed'; readonly id: string }
  | FrameEvent
  | GroupEvent
  | { readonly type: 'key_packages'; readonly packages: readonly ClaimedKeyPackage[] }
  | { readonly type: 'call' }
  | { readonly type: 'unanswered' }
  | { readonly type: 'tick' }
  | { readonly type: 'use_this_device' }
  | { readonly type: 'allow_rejoins' }

/**
 * What must be durable, in one write with the state, before anything of the step leaves.
 *
 * - `message`: a message of the peer for the history. With `resends`, it repeats an earlier message: it is
 *   shown only if the history does not show that one, and replaces it if that one was unreadable.
 * - `unreadable`: a message that cannot be opened, for the history; never shown twice, never silently
 *   dropped.
 * - `ciphertext`: the bytes of a message, for the outbox: every attempt sends these, in the order of `number`
 *   within an epoch. `isHidden`: the outbox has the message only from here: an
 *   acknowledgement, or a `send` that says so.
 * - `ciphertext_gone`: the relay refused these bytes for good. The message stays in the outbox, to be
 *   encrypted again by `send`; a hidden one is removed.
 * - `needless`: this repetition need not be sent any more; the outbox removes it.
 * - `key_package_used`: the secrets of this key package are erased.
 */
export type Keep =
  | {
      readonly keep: 'message'
      readonly id: string
      readonly seq: number
      readonly body: Uint8Array
      readonly resends?: string
    }
  | { readonly keep: 'unreadable'; readonly id: string; readonly seq: number }
  | {
      readonly keep: 'ciphertext'
      readonly id: string
      readonly epoch: number
      readonly payload: Uint8Array
      readonly number: number
      readonly isHidden: boolean
    }
  | { readonly keep: 'ciphertext_gone'; readonly id: string }
  | { readonly keep: 'needless'; readonly id: string }
  | { readonly keep: 'key_package_used'; readonly reference: Uint8Array }

/** A handshake to send, after the state is durable. Every attempt has these bytes. */
export interface Handshake {
  readonly id: string
  /** The relay's epoch that it leaves. */
  readonly epoch: number
  readonly payload: Uint8Array
  readonly groupInfo: Uint8Array
}

/**
 * What is asked for, after the state is durable.
 *
 * - `sync`: a `sync` frame on this connection; `synced` answers it.
 * - `group`: `GET /conversations/{conv_id}/group`; `group` answers it, or `unanswered`.
 * - `key_packages`: the claim of the peer's key packages; `key_packages` answers it, or `unanswered`.
 * - `again`: own messages of the history to send again, under new ids, with `resends`. A message that the
 *   outbox already repeats is left out. A message that the history has no more is reported by `failed`.
 */
export type Ask =
  | { readonly ask: 'sync' }
  | { readonly ask: 'group' }
  | { readonly ask: 'key_packages' }
  | { readonly ask: 'again'; readonly ids: readonly string[] }

/** Why a device rejoined, or wants to. */
export type RejoinReason =
  | 'no_state'
  | 'behind'
  | 'relay_restored'
  | 'relay_went_back'
  | 'unreadable'
  | 'forked'
  | 'store_behind'
  | 'users_word'

/**
 * What is told to the user, or at least logged.
 *
 * - `began`: the conversation has forward secrecy from here on.
 * - `rejoined`: a side joined again: by `own` device, or by the `peer`, who lost its state or has a new
 *   device.
 * - `displaced`: another device of this account has taken the conversation over. `use_this_device` takes it
 *   back.
 * - `asks`: only the user's word lets it go on, `use_this_device` or `allow_rejoins`: a side rejoined so
 *   often, or this device cannot see whose group it would replace (`false_group_info`).
 * - `missing`: so many messages of the peer did not arrive; 10,000 stands for more. `out_of_order`: one came
 *   late, and is shown.
 * - `history_differs`: the two sides do not have the same earlier messages: the relay showed them different
 *   ones.
 * - `unreadable`: a message could not be opened.
 * - `forked`: the relay accepted two handshakes that leave the same epoch.
 * - `false_handshake`, `false_group_info`, `foreign_key_package`: somebody without the contact's keys made
 *   these, or they break a rule, or the relay has none where there must be one. They are not used.
 * - `no_key_packages`: the contact has none, so the conversation cannot begin yet.
 * - `waits`: messages wait at the relay, because the client of the contact that is connected now has no
 *   version 3.
 * - `relay_restored`: the relay was restored from a backup. `relay_went_back`: its epoch is lower than it
 *   was, and it did not say why.
 * - `store_behind`: this device's store is older than what it sent.
 * - `handshake_failed`: the relay refused a handshake for good.
 * - `lowered`: the user has permitted messages without forward secrecy. The course itself never tells it.
 * - `later_version`: a later version of the program wrote the state, so nothing is sent or read here, and
 *   nothing is lost. The course itself never tells it.
 */
export type Notice =
  | { readonly tell: 'began' | 'displaced' | 'out_of_order' | 'history_differs' | 'forked' }
  | { readonly tell: 'rejoined'; readonly by: 'own' | 'peer'; readonly reason?: RejoinReason }
  | { readonly tell: 'asks'; readonly of: 'own_rejoins' | 'peer_rejoins' }
  | { readonly tell: 'missing'; readonly count: number }
  | { readonly tell: 'unreadable'; readonly id: string }
  | { readonly tell: 'false_handshake' | 'false_group_info' | 'foreign_key_package' | 'no_key_packages' }
  | { readonly tell: 'waits' | 'later_version' }
  | { readonly tell: 'relay_restored' | 'relay_went_back' | 'store_behind' | 'handshake_failed' | 'lowered' }

/**
 * What became of the event.
 *
 * - `handled`: of a frame: it may be confirmed, once the step is durable.
 * - `repeat`: of a frame: it was handled before; it may be confirmed.
 * - `later`: of a frame: neither it nor a later frame of the conversation is confirmed before the next
 *   `sync`, which brings it again. Of `send`: the message waits; try again when `maySend` is true.
 */
export type Outcome = 'handled' | 'repeat' | 'later'
