// The states of a call and the table of transitions between them. `call-course.ts` carries out the effects.

/**
 * The state of a call. A device is in one call at most. In `idle`, `hangup`, `rejected` and `ended` another
 * call can start.
 */
export type CallState =
  | 'idle'
  | 'calling'
  | 'ringing'
  | 'connecting'
  | 'connected'
  | 'hangup'
  | 'rejected'
  | 'ended'

/**
 * The events of a call.
 *
 * - `call`, `accept`, `hang_up`: actions of the user. Hanging up a ringing call rejects it.
 * - `call_offer`: an offer while no call is active. `call_answer`, `call_reject`, `call_ice`, `call_hangup`:
 *   signals of this call, in every state. Signals of other calls are no events, except their offers:
 * - `peer_offer_first`, `peer_offer_second`: the contact of this call offers another call. It is `first` if
 *   its offer takes precedence over this side's: its alias sorts first as text. Both sides compare the same
 *   two aliases, and agree.
 * - `other_offer`: another contact calls.
 * - `unencrypted`: the other side's offer, while no call is active, or its answer names no epoch of keys.
 * - `media_connected`, `media_interrupted`, `media_failed`, `link_poor`: changes of the media connection.
 * - `taken`: another tab has accepted or rejected the ringing call.
 * - `timeout`: a wait has ended. `reconnected`: the relay is connected again. `failed`: an effect could not
 *   be carried out. `stopped`: there is no relay to send signals through (disconnected, locked, closed,
 *   another identity). `replaced`: the same, because another device has connected with this account.
 */
export type CallEvent =
  | 'call'
  | 'accept'
  | 'hang_up'
  | 'call_offer'
  | 'call_answer'
  | 'call_reject'
  | 'call_ice'
  | 'call_hangup'
  | 'peer_offer_first'
  | 'peer_offer_second'
  | 'other_offer'
  | 'unencrypted'
  | 'media_connected'
  | 'media_interrupted'
  | 'media_failed'
  | 'link_poor'
  | 'taken'
  | 'timeout'
  | 'reconnected'
  | 'failed'
  | 'stopped'
  | 'replaced'

/** The actions that follow from an event, carried out in the given order. */
export type CallEffect =
  | 'begin'
  | 'make_offer'
  | 'make_answer'
  | 'take_answer'
  | 'take_candidate'
  | 'send_reject'
  | 'send_busy'
  | 'send_hangup'
  | 'send_again'
  | 'restart_media'
  | 'drop_video'
  | 'wait_for_answer'
  | 'wait_for_media'
  | 'stop_waiting'
  | 'close'

/** Why a call ended. */
export type CallEnd =
  /** The other side hung up. */
  | 'hung_up_by_peer'
  /** This side hung up. */
  | 'hung_up'
  /** The callee rejected the call. */
  | 'declined'
  /** The callee is in another call. */
  | 'busy'
  /** Nobody answered in time. */
  | 'unanswered'
  /** The other side's app does not encrypt media as this one does. Nothing was sent. */
  | 'unencrypted'
  /** The media did not connect in time. */
  | 'no_media'
  /** The media connection broke and did not come back in time, or the other side has closed it. */
  | 'connection_lost'
  /** Another tab accepted or rejected the call. */
  | 'taken'
  /** Something on this device failed. */
  | 'failed'
  /** This device was disconnected from its relay, locked or closed. */
  | 'stopped'
  /** Another device has connected with this account, which disconnects this one. */
  | 'replaced'

/** One entry of the table. */
export interface CallTransition {
  readonly to: CallState
  readonly effects: readonly CallEffect[]
  /** Why the call ended, if this transition ends it. */
  readonly end?: CallEnd
}

type Row = { readonly [E in CallEvent]?: CallTransition }

/** How long a call rings, in milliseconds: as long as the relay keeps an offer. */
export const ANSWER_WITHIN_MS = 45_000
/** How long the media may take to connect or to reconnect, in milliseconds. */
export const MEDIA_WITHIN_MS = 30_000

const free: Row = {
  call: { to: 'calling', effects: ['begin', 'wait_for_answer', 'make_offer'] },
  call_offer: { to: 'ringing', effects: ['begin', 'wait_for_answer'] },
  // It does not ring, but the application is told, so that it can say who called in vain, and why.
  unencrypted: { to: 'ended', effects: ['begin', 'send_reject', 'close'], end: 'unencrypted' },
}

/** The transitions of an answered call. */
const answered: Row = {
  hang_up: { to: 'hangup', effects: ['send_hangup', 'close'], end: 'hung_up' },
  call_ice: { to: 'connecting', effects: ['take_candidate'] },
  call_hangup: { to: 'hangup', effects: ['close'], end: 'hung_up_by_peer' },
  reconnected: { to: 'connecting', effects: ['send_again'] },
  failed: { to: 'ended', effects: ['send_hangup', 'close'], end: 'failed' },
  stopped: { to: 'ended', effects: ['send_hangup', 'close'], end: 'stopped' },
  replaced: { to: 'ended', effects: ['send_hangup', 'close'], end: 'replaced' },
  peer_offer_first: { to: 'connecting', effects: ['send_busy'] },
  peer_offer_second: { to: 'connecting', effects: ['send_busy'] },
  other_offer: { to: 'connecting', effects: ['send_busy'] },
}

/** The transitions by state and event. An event without an entry is ignored. */
export const callTransitions: { readonly [S in CallState]: Row } = {
  idle: free,
  hangup: free,
  rejected: free,
  ended: free,

  calling: {
    call_answer: { to: 'connecting', effects: ['wait_for_media', 'take_answer'] },
    call_reject: { to: 'rejected', effects: ['close'], end: 'declined' },
    call_ice: { to: 'calling', effects: ['take_candidate'] },
    call_hangup: { to: 'hangup', effects: ['close'], end: 'hung_up_by_peer' },
    hang_up: { to: 'hangup', effects: ['send_hangup', 'close'], end: 'hung_up' },
    timeout: { to: 'ended', effects: ['send_hangup', 'close'], end: 'unanswered' },
    // The relay may have lost the offer along with the connection.
    reconnected: { to: 'calling', effects: ['send_again'] },
    // Both sides called. Both continue with the same one of the two calls, without asking the users, who both
    // called.
    peer_offer_first: {
      to: 'connecting',
      effects: ['send_hangup', 'close', 'begin', 'wait_for_media', 'make_answer'],
    },
    peer_offer_second: { to: 'calling', effects: [] },
    other_offer: { to: 'calling', effects: ['send_busy'] },
    unencrypted: { to: 'ended', effects: ['send_hangup', 'close'], end: 'unencrypted' },
    failed: { to: 'ended', effects: ['send_hangup', 'close'], end: 'failed' },
    stopped: { to: 'ended', effects: ['send_hangup', 'close'], end: 'stopped' },
    replaced: { to: 'ended', effects: ['send_hangup', 'close'], end: 'replaced' },
  },

  ringing: {
    accept: { to: 'connecting', effects: ['wait_for_media', 'make_answer'] },
    hang_up: { to: 'rejected', effects: ['send_reject', 'close'], end: 'declined' },
    call_ice: { to: 'ringing', effects: ['take_candidate'] },
    call_hangup: { to: 'hangup', effects: ['close'], end: 'hung_up_by_peer' },
    taken: { to: 'ended', effects: ['close'], end: 'taken' },
    // The caller sends its own hangup, unless it has disappeared, so this side sends nothing.
    timeout: { to: 'ended', effects: ['close'], end: 'unanswered' },
    // The contact calls again: the hangup of the previous call was lost.
    peer_offer_first: { to: 'ringing', effects: ['close', 'begin', 'wait_for_answer'] },
    peer_offer_second: { to: 'ringing', effects: ['close', 'begin', 'wait_for_answer'] },
    other_offer: { to: 'ringing', effects: ['send_busy'] },
    failed: { to: 'ended', effects: ['send_reject', 'close'], end: 'failed' },
    stopped: { to: 'ended', effects: ['close'], end: 'stopped' },
    // It rings on the other device.
    replaced: { to: 'ended', effects: ['close'], end: 'replaced' },
  },

  connecting: {
    ...answered,
    // The caller repeats its offer after a lost connection, so it may have missed the answer.
    call_offer: { to: 'connecting', effects: ['send_again'] },
    media_connected: { to: 'connected', effects: ['stop_waiting'] },
    // The earlier restart has not helped, so another one is tried. The wait continues.
    media_interrupted: { to: 'connecting', effects: ['restart_media'] },
    media_failed: { to: 'ended', effects: ['send_hangup', 'close'], end: 'no_media' },
    timeout: { to: 'ended', effects: ['send_hangup', 'close'], end: 'no_media' },
  },

  connected: {
    ...answered,
    call_ice: { to: 'connected', effects: ['take_candidate'] },
    reconnected: { to: 'connected', effects: ['send_again'] },
    peer_offer_first: { to: 'connected', effects: ['send_busy'] },
    peer_offer_second: { to: 'connected', effects: ['send_busy'] },
    other_offer: { to: 'connected', effects: ['send_busy'] },
    media_interrupted: { to: 'connecting', effects: ['wait_for_media', 'restart_media'] },
    media_failed: { to: 'ended', effects: ['send_hangup', 'close'], end: 'connection_lost' },
    link_poor: { to: 'connected', effects: ['drop_video'] },
  },
}

/** The transition for an event in a state; undefined if the event is ignored. */
export function nextOf(state: CallState, event: CallEvent): CallTransition | undefined {
  return callTransitions[state][event]
}
