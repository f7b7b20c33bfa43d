// Calls as an application has them: one at a time, begun here or by a friend's offer. How one goes on is `call-course.ts`.
import type { SottoClient } from '../client.ts'
import { asClientError, ClientError } from '../client-error.ts'
import { randomUuid } from '../clock.ts'
import { Device } from '../device.ts'
import { doorOf } from '../door.ts'
import type { Emitter } from '../events.ts'
import { CallCourse } from './call-course.ts'
import type { CallInfo, CallsOptions } from './call-info.ts'
import type { CallTrackKind, OpenCallPeer } from './call-peer.ts'
import { type CallRefusal, CallSignals, type IncomingSignal } from './call-signals.ts'
import type { CallState } from './call-states.ts'
import { LastSignals } from './last-signals.ts'
import { type CallListener, type CallSurroundings, OneCall } from './one-call.ts'

/**
 * Calls between friends, one at a time: `const calls = new Calls(client, webRtc())`, once for a client. Signals are signed and
 * encrypted like messages, and sound and pictures are encrypted a second time, with keys of the two friends, in the page.
 *
 * A call is `calling` or `ringing`, then `connecting`, then `connected`; it is over as `hangup`, `rejected` or `ended`. Each
 * change is told to `onChange`.
 */
export class Calls {
  readonly #device: Device
  readonly #emitter: Emitter
  readonly #around: CallSurroundings
  readonly #course: CallCourse
  readonly #changeHandlers = new Set<(call: CallInfo) => void>()
  readonly #refusalHandlers = new Set<(refused: { from: string; reason: CallRefusal }) => void>()
  readonly #undo: (() => void)[] = []
  #isClosed = false

  /**
   * @param openPeer carries the media: `webRtc()` of `@sotto/client/browser`
   * @throws ClientError `INVALID_ARGUMENT` for a client that has calls already, `UNSUPPORTED` for a `SharedClient`
   */
  constructor(client: SottoClient, openPeer: OpenCallPeer, { relayOnly = false }: CallsOptions = {}) {
    const device = doorOf(client)
    if (!(device instanceof Device))
      throw new ClientError('UNSUPPORTED', 'calls need a SottoClient, which is of one tab')
    const { emitter } = device
    const { clock } = device.platform
    if (emitter.onCall) throw new ClientError('INVALID_ARGUMENT', 'this client has calls already')
    const onError = (error: unknown): void => this.#tellError(error)
    const signals = new CallSignals(device, {
      onSignal: (signal) => this.#onSignal(signal),
      onRefused: (from, reason) => this.#onRefused(from, reason),
      onError,
    })
    const lastSignals = new LastSignals(signals, clock, onError)
    this.#device = device
    this.#emitter = emitter
    this.#around = { device, signals, openPeer, relayOnly }
    this.#course = new CallCourse({ clock, lastSignals, onChange: () => this.#tellChange(), onError })
    emitter.onCall = (frame) => {
      if (frame.type === 'error') this.#onRefusal(frame.call_id, frame.error)
      else signals.receive(frame)
    }
    // Also once these calls are closed: what they said last may still be on its way.
    emitter.onStop = (engine) => signals.sendLast(engine, () => this.#course.happen('stopped'))
    this.#undo.push(
      () => {
        emitter.onCall = undefined
      },
      emitter.on('network_state', (state) => {
        if (state === 'connected') lastSignals.sendUnsent()
        if (state === 'connected') this.#course.happen('reconnected')
        if (state === 'disconnected') this.#course.happen('stopped')
      }),
      emitter.on('security_violation', () => {
        if (this.#hasChangedKeys()) this.#course.happen('failed')
      }),
    )
  }

  /** Where the latest call is; `idle` before there was one. */
  get state(): CallState {
    return this.#course.state
  }

  /** The latest call, over or not. */
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

  /** Hears of every change of a call; returns what stops hearing it. */
  onChange(handler: (call: CallInfo) => void): () => void {
    return addTo(this.#changeHandlers, handler)
  }

  /** Hears of signals that were dropped, and why: `STALE` is a clock that is wrong by more than a minute, here or there. */
  onRefused(handler: (refused: { readonly from: string; readonly reason: CallRefusal }) => void): () => void {
    return addTo(this.#refusalHandlers, handler)
  }

  /**
   * Calls a friend, to send what `stream` holds; nothing, where it is left out. Resolves once the friend is being called.
   * @throws ClientError `INVALID_ARGUMENT` while there is a call, `NETWORK` without a connection to the relay, `UNSUPPORTED`
   *   where media cannot be encrypted or, with `relayOnly`, relayed, `UNKNOWN_CONTACT`, `KEY_CHANGED`, `CLOSED`
   */
  async call(contact: string, stream?: MediaStream): Promise<CallInfo> {
    const { sessions, connection, identity } = this.#device.needEngine()
    if (this.#isClosed) throw new ClientError('CLOSED', 'the calls of this client were closed')
    if (!this.#course.takes('call')) throw new ClientError('INVALID_ARGUMENT', 'there is a call already')
    const session = sessions.get(contact)
    if (!sessions.guard(session))
      throw new ClientError('KEY_CHANGED', 'the keys of this contact are not those recorded')
    if (connection.state !== 'connected')
      throw new ClientError('NETWORK', 'there is no connection to call by')
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
    this.#course.happen('call', { call })
    return this.#made(call)
  }

  /**
   * Takes the call that is ringing, to send what `stream` holds. Resolves once the answer is on its way.
   * @throws ClientError `INVALID_ARGUMENT` where nothing rings, and what `call` throws
   */
  async accept(stream?: MediaStream): Promise<CallInfo> {
    const { call } = this.#course
    if (!call || !this.#course.takes('accept')) throw new ClientError('INVALID_ARGUMENT', 'nothing rings')
    call.stream = stream
    this.#course.happen('accept')
    return this.#made(call)
  }

  /** Ends the call, or rejects the one that rings. Does nothing where there is none. */
  hangUp(): void {
    this.#course.happen('hang_up')
  }

  /**
   * Sends another track in a call, or nothing of that kind (`null`): to mute, and to turn video off and on. The other side is
   * told. Tracks are the application's: it stops them when they are needed no longer, after the call as well.
   * @throws ClientError `INVALID_ARGUMENT` where there is no call
   */
  async setTrack(kind: CallTrackKind, track: MediaStreamTrack | null): Promise<void> {
    await this.#course.setTrack(kind, track)
  }

  /** Ends the call there is, and takes no more. */
  close(): void {
    this.#isClosed = true
    this.hangUp()
    for (const undo of this.#undo.splice(0)) undo()
  }

  /** Awaits the offer or the answer of a call. */
  async #made(call: OneCall): Promise<CallInfo> {
    try {
      await this.#course.made(call)
    } catch (thrown) {
      throw asClientError(thrown, 'UNSUPPORTED')
    }
    const info = this.current
    if (!info) throw new ClientError('ABORTED', 'the call is over')
    return info
  }

  /** The relay has refused a signal of this side's. */
  #onRefusal(callId: string | undefined, code: string): void {
    const { call, state } = this.#course
    const isOurs = callId === call?.parties.id && state === 'calling'
    // The relay tells of the error by itself; a candidate that was one too many ends no call.
    if (isOurs && code !== 'RATE_LIMITED') this.#course.happen('failed')
  }

  #onSignal(signal: IncomingSignal): void {
    const { type, callId, conversationId, from, fields } = signal
    const course = this.#course
    const current = course.isFree ? undefined : course.call
    const isSameContact = current?.parties.conversationId === conversationId
    if (current && isSameContact && current.parties.id === callId) {
      course.happen(type, { from, fields })
      return
    }
    // Of a call that is over, or never was.
    if (type !== 'call_offer' || course.finished.has(callId)) return
    const call = this.#offered(signal)
    if (!call) return this.#onRefused(from, 'MALFORMED')
    if (!current) return course.happen('call_offer', { call })
    if (!isSameContact) return course.happen('other_offer', { call })
    // What was to be sent with the own offer is sent with the answer, should theirs go before.
    call.stream = current.stream
    const isFirst = from < current.parties.ownAlias
    course.happen(isFirst ? 'peer_offer_first' : 'peer_offer_second', { call })
    // An answer that nobody asked for, as both called.
    if (course.call === call) course.made(call).catch((error: unknown) => this.#tellError(error))
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
        if (course.call === callOf()) course.happen(event)
      },
      onChange: () => {
        if (course.call === callOf()) this.#tellChange()
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

  #tellChange(): void {
    const info = this.current
    if (info) for (const handler of [...this.#changeHandlers]) this.#run(() => handler(info))
  }

  #tellError(error: unknown): void {
    this.#emitter.emit('error', asClientError(error, 'UNSUPPORTED'))
  }

  /** A handler that throws disturbs nobody else. */
  #run(handler: () => void): void {
    try {
      handler()
    } catch (cause) {
      this.#tellError(new ClientError('HANDLER_FAILED', 'a handler of calls threw', { cause }))
    }
  }
}

function addTo<T>(handlers: Set<T>, handler: T): () => void {
  handlers.add(handler)
  return () => {
    handlers.delete(handler)
  }
}
