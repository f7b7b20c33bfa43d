// The calls of a client, one at a time, started here or by a friend's offer. `call-course.ts` runs a call.
import { asClientError, ClientError } from '../client-error.ts'
import type { Emitter } from '../events/events.ts'
import { type AnyClient, moduleAccessOf } from '../module-access.ts'
import { CallCourse } from './call-course.ts'
import { isUnencrypted } from './call-fields.ts'
import type { CallInfo, CallsOptions } from './call-info.ts'
import { CallLine } from './call-line.ts'
import { CallRecords } from './call-log.ts'
import type { CallTrackKind, OpenCallPeer } from './call-peer.ts'
import type { CallState } from './call-states.ts'
import {
  type CallRefusal,
  type CarriedCall,
  hangUpAsked,
  isOver,
  keysChanged,
  type ReceivedSignal,
  relayRefused,
  signalArrived,
  signalRefused,
  stopped,
} from './carried-calls.ts'
import { LastSignals } from './last-signals.ts'
import { type CallListener, type CallSurroundings, OneCall } from './one-call.ts'
import type { CallParties } from './own-signals.ts'

export type { CallInfo, CallsOptions } from './call-info.ts'
export { CallLog } from './call-log.ts'
export type {
  CallCandidate,
  CallPeer,
  CallPeerOptions,
  CallTrackKind,
  OpenCallPeer,
  SentMedia,
} from './call-peer.ts'
export { type CallQuality, type CallStats, QualityMeter } from './call-quality.ts'
export type { CallEnd, CallState } from './call-states.ts'
export type { CallRefusal } from './carried-calls.ts'
export { type WebRtcOptions, webRtc } from './webrtc.ts'

/**
 * Calls between friends, one at a time. Create it once per client: `const calls = new Calls(client,
 * webRtc())`. Signals are signed and encrypted like messages. Audio and video are encrypted in the page, in
 * addition to WebRTC's encryption, with keys that only the two friends have.
 *
 * A call is `calling` or `ringing`, then `connecting`, then `connected`. It ends as `hangup`, `rejected` or
 * `ended`. Each change is reported to `onChange`.
 *
 * With a `SharedClient`, make it in every tab. A call belongs to the tab that called or accepted, which sends
 * and receives the media; a friend's call rings in all tabs. The other tabs show a call with `isElsewhere`.
 * It ends when its tab is closed, and continues when another tab takes over the client.
 */
export class Calls {
  readonly #line: CallLine
  readonly #emitter: Emitter
  readonly #around: CallSurroundings
  readonly #course: CallCourse
  readonly #changeHandlers = new Set<(call: CallInfo) => void>()
  readonly #refusalHandlers = new Set<(refused: { from: string; reason: CallRefusal }) => void>()
  readonly #undo: (() => void)[] = []
  readonly #records: CallRecords
  /** How often the user has hung up, so that a call that is only being prepared notices it. */
  #hangUps = 0
  /** The latest call, if another tab has it. */
  #elsewhere: CarriedCall | undefined
  #isClosed = false

  /**
   * @param openPeer carries the media: `webRtc()` of `@sotto/client/browser`
   * @throws ClientError `INVALID_ARGUMENT` for a client that has calls already
   */
  constructor(client: AnyClient, openPeer: OpenCallPeer, { relayOnly = false }: CallsOptions = {}) {
    const { emitter } = moduleAccessOf(client)
    if (withCalls.has(client)) throw new ClientError('INVALID_ARGUMENT', 'this client has calls already')
    withCalls.add(client)
    this.#emitter = emitter
    const onError = (error: unknown): void => this.#emitError(error)
    const line = new CallLine(client, {
      onElsewhere: (call) => this.#onElsewhere(call),
      onLeaving: () => this.#course.handle('stopped'),
      onError,
    })
    const { clock, part } = line
    const lastSignals = new LastSignals(line, clock, onError)
    this.#line = line
    this.#records = new CallRecords(() => clock.now())
    this.#around = { line, openPeer, relayOnly }
    this.#course = new CallCourse({ clock, lastSignals, onChange: () => this.#onOwnChange(), onError })
    // This handler stays after `close`: the last signals may still be waiting to be sent.
    part.on(stopped, () => this.#course.handle('stopped'))
    this.#undo.push(
      () => withCalls.delete(client),
      part.on(signalArrived, ({ signal, tab }) => {
        if (line.isForThisTab(tab)) this.#onSignal(signal)
      }),
      part.on(signalRefused, ({ from, reason }) => this.#onRefused(from, reason)),
      part.on(relayRefused, ({ callId, code }) => this.#onRefusal(callId, code)),
      part.on(keysChanged, ({ conversationIds }) => {
        const { call } = this.#course
        if (call && conversationIds.includes(call.parties.conversationId)) this.#course.handle('failed')
      }),
      part.on(hangUpAsked, ({ callId }) => {
        if (callId === this.#course.call?.parties.id) this.#course.handle('hang_up')
      }),
      // It comes before the state `disconnected`.
      emitter.on('goaway', ({ reason }) => {
        if (reason === 'new_device_login') this.#course.handle('replaced')
      }),
      emitter.on('network_state', (state) => {
        if (state === 'connected') lastSignals.sendUnsent()
        if (state === 'connected') this.#course.handle('reconnected')
        if (state === 'disconnected') this.#course.handle('stopped')
      }),
    )
  }

  /** The state of the latest call; `idle` before the first. */
  get state(): CallState {
    return this.current?.state ?? 'idle'
  }

  /** The latest call, whether it has ended or not. */
  get current(): CallInfo | undefined {
    const own = this.#own
    if (this.#elsewhere) {
      const { ownAlias: _, callEpoch: _epoch, ...info } = this.#elsewhere
      return { ...info, isElsewhere: true }
    }
    if (!own) return undefined
    const { ownAlias: _, callEpoch: _epoch, ...info } = own
    const theirStream = this.#course.call?.theirStream
    return { ...info, ...(theirStream === undefined ? {} : { theirStream }), isElsewhere: false }
  }

  /** Calls `handler` for every change of a call. Returns a function that removes the handler. */
  onChange(handler: (call: CallInfo) => void): () => void {
    return addTo(this.#changeHandlers, handler)
  }

  /**
   * Calls `handler` for every dropped signal, with the reason. `STALE` means that the clock of one side is
   * wrong by more than a minute. Returns a function that removes the handler.
   */
  onRefused(handler: (refused: { readonly from: string; readonly reason: CallRefusal }) => void): () => void {
    return addTo(this.#refusalHandlers, handler)
  }

  /**
   * Calls a friend and sends the tracks of `stream`; without `stream` it sends nothing. Resolves once the
   * offer is sent.
   * @throws ClientError `INVALID_ARGUMENT` during another call, `NETWORK` without a connection to the relay,
   *   `UNSUPPORTED` if media cannot be encrypted or, with `relayOnly`, relayed, `UNKNOWN_CONTACT`,
   *   `KEY_CHANGED`, `LATER_VERSION`, `CLOSED`
   */
  async call(contact: string, stream?: MediaStream): Promise<CallInfo> {
    if (this.#isClosed) throw new ClientError('CLOSED', 'the calls of this client were closed')
    const hangUps = this.#hangUps
    const sides = await this.#line.sidesOf(contact)
    const call = this.#make({ id: this.#line.newId(), isCaller: true, ...sides })
    call.stream = stream
    if (!(await this.#claim(call, 'calling', () => this.#course.isFree)))
      throw new ClientError('INVALID_ARGUMENT', 'there is a call already')
    this.#course.handle('call', { call })
    if (hangUps !== this.#hangUps) this.#course.handle('hang_up')
    return this.#signalled(call)
  }

  /**
   * Accepts the ringing call and sends the tracks of `stream`. Resolves once the answer is sent.
   * @throws ClientError `INVALID_ARGUMENT` if no call rings, and as `call` does
   */
  async accept(stream?: MediaStream): Promise<CallInfo> {
    const { call } = this.#course
    const rings = (): boolean => call === this.#course.call && this.#course.state === 'ringing'
    if (!call || !(await this.#claim(call, 'connecting', rings)))
      throw new ClientError('INVALID_ARGUMENT', 'no call rings')
    call.stream = stream
    this.#course.handle('accept')
    return this.#signalled(call)
  }

  /** Ends the call, in whichever tab it is, or rejects a ringing one. Does nothing without a call. */
  hangUp(): void {
    this.#hangUps += 1
    const elsewhere = this.#elsewhere
    if (elsewhere && !isOver(elsewhere.state)) this.#line.hangUpElsewhere(elsewhere.id)
    else this.#course.handle('hang_up')
  }

  /**
   * Sends another track in a call, or none of that kind (`null`): to mute, and to turn video off and on. The
   * other side is notified. The application owns the tracks, and stops them when it needs them no longer,
   * also after the call.
   * @throws ClientError `INVALID_ARGUMENT` without a call
   */
  async setTrack(kind: CallTrackKind, track: MediaStreamTrack | null): Promise<void> {
    await this.#course.setTrack(kind, track)
  }

  /**
   * The browser's statistics of this tab's call, for a `QualityMeter`. Undefined while it is not connected,
   * or in another tab.
   */
  async stats(): Promise<RTCStatsReport | undefined> {
    const { call, state } = this.#course
    return state === 'connected' ? call?.stats() : undefined
  }

  /** Ends the current call, and ignores later ones. */
  close(): void {
    this.#isClosed = true
    this.#hangUps += 1
    this.#course.handle('hang_up')
    this.#line.close()
    for (const undo of this.#undo.splice(0)) undo()
  }

  /** Waits until the offer or the answer of a call is sent. */
  async #signalled(call: OneCall): Promise<CallInfo> {
    try {
      await this.#course.signalled(call)
    } catch (thrown) {
      throw asClientError(thrown, 'UNSUPPORTED')
    }
    const info = this.current
    if (!info) throw new ClientError('ABORTED', 'the call is over')
    return info
  }

  /** The relay refused a signal that this side sent. */
  #onRefusal(callId: string | undefined, code: string): void {
    const { call, state } = this.#course
    const isThisCall = callId === call?.parties.id && state === 'calling'
    // The client reports the error itself. A refused candidate beyond the rate limit does not end the call.
    if (isThisCall && code !== 'RATE_LIMITED') this.#course.handle('failed')
  }

  #onSignal(signal: ReceivedSignal): void {
    const { type, callId, conversationId, from, fields } = signal
    const course = this.#course
    const current = course.isFree ? undefined : course.call
    const isSameContact = current?.parties.conversationId === conversationId
    if (current && isSameContact && current.parties.id === callId) {
      // A call keeps its version and its keys.
      if (current.parties.callEpoch !== signal.callEpoch) return this.#onRefused(from, 'MISMATCH')
      const isRefused = type === 'call_answer' && isUnencrypted('answer', fields)
      course.handle(isRefused ? 'unencrypted' : type, { from, fields })
      return
    }
    // The signal belongs to a call that has ended, or to none.
    if (type !== 'call_offer' || course.finished.has(callId)) return
    const call = this.#offered(signal)
    if (!call) return this.#onRefused(from, 'MALFORMED')
    const isRefused = isUnencrypted('offer', fields)
    if (!current) return course.handle(isRefused ? 'unencrypted' : 'call_offer', { call })
    if (!isSameContact || isRefused) {
      course.handle('other_offer', { call })
      return this.#line.log(this.#records.refused(call.parties))
    }
    // If the contact's offer takes precedence, its answer sends the stream of the offer made here.
    call.stream = current.stream
    const isFirst = from < current.parties.ownAlias
    course.handle(isFirst ? 'peer_offer_first' : 'peer_offer_second', { call })
    // Both sides called, so this call is answered without `accept`, and nobody waits for its answer.
    if (course.call === call) course.signalled(call).catch((error: unknown) => this.#emitError(error))
  }

  #offered(signal: ReceivedSignal): OneCall | undefined {
    const { callId: id, conversationId, callEpoch } = signal
    const { ownAlias } = this.#line
    if (ownAlias === undefined) return undefined
    const call: OneCall | undefined = OneCall.offered(
      this.#around,
      { id, conversationId, isCaller: false, ownAlias, callEpoch },
      signal,
      this.#listenerOf(() => call),
    )
    return call
  }

  #make(parties: CallParties): OneCall {
    const call: OneCall = new OneCall(
      this.#around,
      parties,
      this.#listenerOf(() => call),
    )
    return call
  }

  /** Takes a call for this tab while it `may`, if no other tab has one. */
  async #claim(call: OneCall, state: CallState, may: () => boolean): Promise<boolean> {
    const claimed = this.#carriedOf(call, state)
    if (!may() || (this.#line.part.tabs && !(await this.#line.claim(claimed)))) return false
    if (may()) return true
    // Another call has begun meanwhile, so nothing else reports the end of this one.
    if (call !== this.#course.call) this.#line.report({ ...claimed, state: 'ended', end: 'failed' })
    return false
  }

  #carriedOf({ parties, ownMedia, theirMedia }: OneCall, state: CallState): CarriedCall {
    return { ...parties, state, ownMedia, theirMedia, isVideoDropped: this.#course.isVideoDropped }
  }

  /** The latest call of this tab. */
  get #own(): CarriedCall | undefined {
    const { call, state, end } = this.#course
    return call && { ...this.#carriedOf(call, state), ...(end === undefined ? {} : { end }) }
  }

  #listenerOf(callOf: () => OneCall | undefined): CallListener {
    const course = this.#course
    return {
      onMedia: (event) => {
        if (course.call === callOf()) course.handle(event)
      },
      onChange: () => {
        if (course.call === callOf()) this.#onOwnChange()
      },
      onFailed: (error) => {
        const call = callOf()
        if (call) course.fail(call, error)
      },
    }
  }

  #onRefused(from: string, reason: CallRefusal): void {
    for (const handler of [...this.#refusalHandlers]) this.#run(() => handler({ from, reason }))
  }

  /** A call of this tab has changed. */
  #onOwnChange(): void {
    const own = this.#own
    if (!this.#course.isFree) this.#elsewhere = undefined
    if (own && own.end !== 'taken') {
      this.#line.report(own)
      const record = this.#records.follow(own)
      if (record) this.#line.log(record)
    }
    this.#emitChange()
  }

  /** A call of another tab has changed. */
  #onElsewhere(call: CarriedCall): void {
    const { state, isFree } = this.#course
    const isSame = call.id === this.#course.call?.parties.id
    const isTheirs = isFree && (this.#elsewhere?.id === call.id || !isOver(call.state))
    const isTaken = isSame && (state === 'ringing' || isTheirs)
    if (!isTaken && (isSame || !isFree)) return
    this.#elsewhere = call
    if (state === 'ringing') this.#course.handle('taken')
    else this.#emitChange()
  }

  #emitChange(): void {
    const info = this.current
    if (info) for (const handler of [...this.#changeHandlers]) this.#run(() => handler(info))
  }

  #emitError(error: unknown): void {
    // The application has closed the client itself.
    if (error instanceof ClientError && error.code === 'CLOSED') return
    this.#emitter.emit('error', asClientError(error, 'UNSUPPORTED'))
  }

  /** Runs a handler. An error in it does not affect the other handlers. */
  #run(handler: () => void): void {
    try {
      handler()
    } catch (cause) {
      this.#emitError(new ClientError('HANDLER_FAILED', 'a handler of calls threw', { cause }))
    }
  }
}

/** The clients that have a `Calls`. */
const withCalls = new WeakSet<AnyClient>()

function addTo<T>(handlers: Set<T>, handler: T): () => void {
  handlers.add(handler)
  return () => {
    handlers.delete(handler)
  }
}
