// The calls of a client, one at a time, started here or by a friend's offer. `call-course.ts` runs a call.
import type { SottoClient } from '../client.ts'
import { asClientError, ClientError } from '../client-error.ts'
import { Device } from '../device.ts'
import type { Engine } from '../engine.ts'
import type { Emitter } from '../events/events.ts'
import { moduleAccessOf } from '../module-access.ts'
import { randomUuid } from '../platform/platform.ts'
import type { CallRecord } from '../stores/stores.ts'
import { CallCourse } from './call-course.ts'
import { isUnencrypted } from './call-fields.ts'
import type { CallInfo, CallsOptions } from './call-info.ts'
import { CallRecords, logCall } from './call-log.ts'
import type { CallTrackKind, OpenCallPeer } from './call-peer.ts'
import { type CallRefusal, CallSignals, type IncomingSignal } from './call-signals.ts'
import type { CallState } from './call-states.ts'
import { LastSignals } from './last-signals.ts'
import { type CallListener, type CallSurroundings, OneCall } from './one-call.ts'

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
export type { CallRefusal } from './call-signals.ts'
export type { CallEnd, CallState } from './call-states.ts'
export { type WebRtcOptions, webRtc } from './webrtc.ts'

/**
 * Calls between friends, one at a time. Create it once per client: `const calls = new Calls(client,
 * webRtc())`. Signals are signed and encrypted like messages. Audio and video are encrypted in the page, in
 * addition to WebRTC's encryption, with keys that only the two friends have.
 *
 * A call is `calling` or `ringing`, then `connecting`, then `connected`. It ends as `hangup`, `rejected` or
 * `ended`. Each change is reported to `onChange`.
 */
export class Calls {
  readonly #device: Device
  readonly #emitter: Emitter
  readonly #around: CallSurroundings
  readonly #course: CallCourse
  readonly #changeHandlers = new Set<(call: CallInfo) => void>()
  readonly #refusalHandlers = new Set<(refused: { from: string; reason: CallRefusal }) => void>()
  readonly #undo: (() => void)[] = []
  readonly #records: CallRecords
  /** The engine that stops, while it stops. */
  #stopping: Engine | undefined
  #isClosed = false

  /**
   * @param openPeer carries the media: `webRtc()` of `@sotto/client/browser`
   * @throws ClientError `INVALID_ARGUMENT` for a client that has calls already, `UNSUPPORTED` for a
   *   `SharedClient`
   */
  constructor(client: SottoClient, openPeer: OpenCallPeer, { relayOnly = false }: CallsOptions = {}) {
    const device = moduleAccessOf(client)
    if (!(device instanceof Device))
      throw new ClientError('UNSUPPORTED', 'calls need a SottoClient, which runs in one tab')
    const { emitter } = device
    const { clock } = device.platform
    if (device.callHooks.onFrame) throw new ClientError('INVALID_ARGUMENT', 'this client has calls already')
    const onError = (error: unknown): void => this.#emitError(error)
    const signals = new CallSignals(device, {
      onSignal: (signal) => this.#onSignal(signal),
      onRefused: (from, reason) => this.#onRefused(from, reason),
      onError,
    })
    const lastSignals = new LastSignals(signals, clock, onError)
    this.#device = device
    this.#emitter = emitter
    this.#records = new CallRecords(() => clock.now())
    this.#around = { device, signals, openPeer, relayOnly }
    this.#course = new CallCourse({ clock, lastSignals, onChange: () => this.#emitChange(), onError })
    device.callHooks.onFrame = (frame) => {
      if (frame.type === 'error') this.#onRefusal(frame.call_id, frame.error)
      else signals.receive(frame)
    }
    // This hook stays after `close`: the last signals may still be waiting to be sent.
    device.callHooks.onStop = (engine) =>
      signals.sendLast(engine, () => {
        this.#stopping = engine
        this.#course.handle('stopped')
        this.#stopping = undefined
      })
    this.#undo.push(
      () => {
        device.callHooks.onFrame = undefined
      },
      emitter.on('network_state', (state) => {
        if (state === 'connected') lastSignals.sendUnsent()
        if (state === 'connected') this.#course.handle('reconnected')
        if (state === 'disconnected') this.#course.handle('stopped')
      }),
      emitter.on('security_violation', () => {
        if (this.#hasChangedKeys()) this.#course.handle('failed')
      }),
    )
  }

  /** The state of the latest call; `idle` before the first. */
  get state(): CallState {
    return this.#course.state
  }

  /** The latest call, whether it has ended or not. */
  get current(): CallInfo | undefined {
    const { call, state, end, isVideoDropped } = this.#course
    if (!call) return undefined
    const { id, conversationId, isCaller } = call.parties
    const { ownMedia, theirMedia, theirStream } = call
    return {
      ...{ id, conversationId, isCaller, state },
      ...(end === undefined ? {} : { end }),
      ...{ ownMedia, theirMedia },
      ...(theirStream === undefined ? {} : { theirStream }),
      isVideoDropped,
    }
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
   *   `KEY_CHANGED`, `CLOSED`
   */
  async call(contact: string, stream?: MediaStream): Promise<CallInfo> {
    const { sessions, connection, identity } = this.#device.needEngine()
    if (this.#isClosed) throw new ClientError('CLOSED', 'the calls of this client were closed')
    if (!this.#course.accepts('call')) throw new ClientError('INVALID_ARGUMENT', 'there is a call already')
    const session = sessions.get(contact)
    if (!sessions.guard(session))
      throw new ClientError('KEY_CHANGED', 'the keys of this contact have changed')
    if (connection.state !== 'connected')
      throw new ClientError('NETWORK', 'there is no connection to the relay')
    const call = new OneCall(
      this.#around,
      {
        id: randomUuid(this.#device.platform.random),
        conversationId: session.conversationId,
        isCaller: true,
        ownAlias: identity.stored.aliasId,
      },
      this.#listenerOf(() => call),
    )
    call.stream = stream
    this.#course.handle('call', { call })
    return this.#signalled(call)
  }

  /**
   * Accepts the ringing call and sends the tracks of `stream`. Resolves once the answer is sent.
   * @throws ClientError `INVALID_ARGUMENT` if no call rings, and as `call` does
   */
  async accept(stream?: MediaStream): Promise<CallInfo> {
    const { call } = this.#course
    if (!call || !this.#course.accepts('accept')) throw new ClientError('INVALID_ARGUMENT', 'no call rings')
    call.stream = stream
    this.#course.handle('accept')
    return this.#signalled(call)
  }

  /** Ends the call, or rejects a ringing one. Does nothing without a call. */
  hangUp(): void {
    this.#course.handle('hang_up')
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

  /** Ends the current call, and ignores later ones. */
  close(): void {
    this.#isClosed = true
    this.hangUp()
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

  #onSignal(signal: IncomingSignal): void {
    const { type, callId, conversationId, from, fields } = signal
    const course = this.#course
    const current = course.isFree ? undefined : course.call
    const isSameContact = current?.parties.conversationId === conversationId
    if (current && isSameContact && current.parties.id === callId) {
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
      return this.#log(this.#records.refused(call.parties))
    }
    // If the contact's offer takes precedence, its answer sends the stream of the offer made here.
    call.stream = current.stream
    const isFirst = from < current.parties.ownAlias
    course.handle(isFirst ? 'peer_offer_first' : 'peer_offer_second', { call })
    // Both sides called, so this call is answered without `accept`, and nobody waits for its answer.
    if (course.call === call) course.signalled(call).catch((error: unknown) => this.#emitError(error))
  }

  #offered(signal: IncomingSignal): OneCall | undefined {
    const { callId, conversationId } = signal
    const ownAlias = this.#device.needEngine().identity.stored.aliasId
    const call: OneCall | undefined = OneCall.offered(
      this.#around,
      { id: callId, conversationId, isCaller: false, ownAlias },
      signal,
      this.#listenerOf(() => call),
    )
    return call
  }

  #listenerOf(callOf: () => OneCall | undefined): CallListener {
    const course = this.#course
    return {
      onMedia: (event) => {
        if (course.call === callOf()) course.handle(event)
      },
      onChange: () => {
        if (course.call === callOf()) this.#emitChange()
      },
      onFailed: (error) => {
        const call = callOf()
        if (call) course.fail(call, error)
      },
    }
  }

  #hasChangedKeys(): boolean {
    const sessions = this.#device.engine?.sessions
    const session = sessions?.find(this.#course.call?.parties.conversationId ?? '')
    return session !== undefined && sessions?.hasChangedKeys(session) === true
  }

  #onRefused(from: string, reason: CallRefusal): void {
    for (const handler of [...this.#refusalHandlers]) this.#run(() => handler({ from, reason }))
  }

  #emitChange(): void {
    const info = this.current
    const record = info && this.#records.follow(info)
    if (record) this.#log(record)
    if (info) for (const handler of [...this.#changeHandlers]) this.#run(() => handler(info))
  }

  #log(record: CallRecord): void {
    const engine = this.#stopping ?? this.#device.engine
    engine?.work(logCall(this.#device, engine, record)).catch((error: unknown) => this.#emitError(error))
  }

  #emitError(error: unknown): void {
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

function addTo<T>(handlers: Set<T>, handler: T): () => void {
  handlers.add(handler)
  return () => {
    handlers.delete(handler)
  }
}
