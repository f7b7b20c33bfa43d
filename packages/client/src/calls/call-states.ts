// How a call goes from state to state: the one table, and nothing else. Who carries out its effects is `call-course.ts`.

/** Where a call is. A device is in one call at most; the last four and `idle` leave it free for another. */
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
 * What can happen.
 *
 * - `call`, `accept`, `hang_up`: the user's wishes. To hang up what rings is to reject it.
 * - `call_offer`, where the device is free; `call_answer`, `call_reject`, `call_ice`, `call_hangup`: signals of this call, in every
 *   state. Signals of other calls are no events, but for their offers:
 * - `peer_offer_first`, `peer_offer_second`: the contact of this call offers another. It is `first` where that offer goes
 *   before the own one: where its alias is the lesser as text. Both sides compare the same two, and agree.
 * - `other_offer`: somebody else calls.
 * - `media_connected`, `media_interrupted`, `media_failed`, `link_poor`: what is seen of the media's connection.
 * - `timeout`: a wait is over. `reconnected`: the relay is there again. `failed`: something could not be carried out.
 *   `stopped`: there is no relay any more to signal by (disconnected, locked, closed, another identity).
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
  | 'media_connected'
  | 'media_interrupted'
  | 'media_failed'
  | 'link_poor'
  | 'timeout'
  | 'reconnected'
  | 'failed'
  | 'stopped'

/** What is done about it, in the order given. */
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

/** Why a call is over. */
export type CallEnd =
  /** The other side hung up. */
  | 'hung_up_by_peer'
  /** This side hung up. */
  | 'hung_up'
  /** The callee, on either side, did not want it. */
  | 'declined'
  /** The callee is in another call. */
  | 'busy'
  /** Nobody answered in time. */
  | 'unanswered'
  /** No way for the media was found in time, or it did not come back in time. */
  | 'no_media'
  /** The way of the media broke, or the other side is gone. */
  | 'connection_lost'
  /** Something on this device failed. */
  | 'failed'
  /** This device lost its relay for good. */
  | 'stopped'

/** One entry of the table. */
export interface CallTransition {
  readonly to: CallState
  readonly effects: readonly CallEffect[]
  /** Set where the call is over by it. */
  readonly end?: CallEnd
}

type Row = { readonly [E in CallEvent]?: CallTransition }

/** How long somebody is called, in milliseconds: as long as the relay keeps an offer. */
export const ANSWER_WITHIN_MS = 45_000
/** How long the media may take to connect, or to come back, in milliseconds. */
export const MEDIA_WITHIN_MS = 30_000

const free: Row = {
  call: { to: 'calling', effects: ['begin', 'wait_for_answer', 'make_offer'] },
  call_offer: { to: 'ringing', effects: ['begin', 'wait_for_answer'] },
}

/** What ends a call that is answered, from both sides. */
const answered: Row = {
  hang_up: { to: 'hangup', effects: ['send_hangup', 'close'], end: 'hung_up' },
  call_ice: { to: 'connecting', effects: ['take_candidate'] },
  call_hangup: { to: 'hangup', effects: ['close'], end: 'hung_up_by_peer' },
  reconnected: { to: 'connecting', effects: ['send_again'] },
  failed: { to: 'ended', effects: ['send_hangup', 'close'], end: 'failed' },
  stopped: { to: 'ended', effects: ['send_hangup', 'close'], end: 'stopped' },
  peer_offer_first: { to: 'connecting', effects: ['send_busy'] },
  peer_offer_second: { to: 'connecting', effects: ['send_busy'] },
  other_offer: { to: 'connecting', effects: ['send_busy'] },
}

/** State by event. What is not there is ignored. */
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
    // A relay that lost the connection for good has forgotten the offer.
    reconnected: { to: 'calling', effects: ['send_again'] },
    // Both called. One of the two calls goes on, the same on both sides, and nobody is asked: both want it.
    peer_offer_first: {
      to: 'connecting',
      effects: ['send_hangup', 'close', 'begin', 'wait_for_media', 'make_answer'],
    },
    peer_offer_second: { to: 'calling', effects: [] },
    other_offer: { to: 'calling', effects: ['send_busy'] },
    failed: { to: 'ended', effects: ['send_hangup', 'close'], end: 'failed' },
    stopped: { to: 'ended', effects: ['send_hangup', 'close'], end: 'stopped' },
  },

  ringing: {
    accept: { to: 'connecting', effects: ['wait_for_media', 'make_answer'] },
    hang_up: { to: 'rejected', effects: ['send_reject', 'close'], end: 'declined' },
    call_ice: { to: 'ringing', effects: ['take_candidate'] },
    call_hangup: { to: 'hangup', effects: ['close'], end: 'hung_up_by_peer' },
    // The caller says so itself, unless it is gone.
    timeout: { to: 'ended', effects: ['close'], end: 'unanswered' },
    // Called anew: the hangup of the call before was lost.
    peer_offer_first: { to: 'ringing', effects: ['close', 'begin', 'wait_for_answer'] },
    peer_offer_second: { to: 'ringing', effects: ['close', 'begin', 'wait_for_answer'] },
    other_offer: { to: 'ringing', effects: ['send_busy'] },
    failed: { to: 'ended', effects: ['send_reject', 'close'], end: 'failed' },
    stopped: { to: 'ended', effects: ['close'], end: 'stopped' },
  },

  connecting: {
    ...answered,
    // The caller calls again, since it was without a connection: it may not have got the answer either.
    call_offer: { to: 'connecting', effects: ['send_again'] },
    media_connected: { to: 'connected', effects: ['stop_waiting'] },
    // Again: what was tried has not helped so far. The wait does not begin anew for it.
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

/** What follows an event in a state, or undefined where the event is ignored. */
export function nextOf(state: CallState, event: CallEvent): CallTransition | undefined {
  return callTransitions[state][event]
}
