// Calls: one at a time, by the table of `call-states.ts`, whose effects are carried out here.
import type { CallSignalFields } from '@sotto/crypto'
import type { SottoClient } from '../client.ts'
import { asClientError, ClientError } from '../client-error.ts'
import { randomUuid } from '../clock.ts'
import { Device } from '../device.ts'
import { doorOf } from '../door.ts'
import type { CallFrameOrRefusal, Emitter } from '../events.ts'
import type { CallTrackKind, OpenCallPeer, SentMedia } from './call-peer.ts'
import { type CallRefusal, CallSignals, type IncomingSignal, type OutgoingSignal } from './call-signals.ts'
import {
  ANSWER_WITHIN_MS,
  type CallEffect,
  type CallEnd,
  type CallEvent,
  type CallState,
  callTransitions,
  MEDIA_WITHIN_MS,
  nextOf,
} from './call-states.ts'
import { type CallParties, type CallSurroundings, OneCall } from './one-call.ts'

/** How long the id of a call that is over is known, in milliseconds: longer than any signal of it may be under way. */
const REMEMBER_MS = 300_000

/** Options of `Calls`. */
export interface CallsOptions {
  /**
   * Media goes through the relay's TURN servers only, so that the two sides do not learn each other's addresses. Where
   * there is no such server, there is no call. False unless told.
   */
  readonly relayOnly?: boolean
}

/** A call, as it is now. */
export interface CallInfo {
  /** The call's own. */
  readonly id: string
  /** Whom it is with. */
  readonly conversationId: string
  /** Whether this side called. */
  readonly isCaller: boolean
  readonly state: CallState
  /** Why it is over, where it is. */
  readonly end?: CallEnd
  /** What this side sends. */
  readonly ownMedia: SentMedia
  /** What the other side says it sends. */
  readonly theirMedia: SentMedia
  /** What the other side sends, to be shown in a `video` element. */
  readonly theirStream?: MediaStream
  /** Own video was ended by this library, since the connection was too poor for it. */
  readonly isVideoDropped: boolean
}

interface Happening {
  /** The call that begins, or is refused. */
  readonly call?: OneCall
  readonly from?: string
  readonly fields?: CallSignalFields
}

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
  readonly #signals: CallSignals
  readonly #around: CallSurroundings
  readonly #changeHandlers = new Set<(call: CallInfo) => void>()
  readonly #refusalHandlers = new Set<(refused: { from: string; reason: CallRefusal }) => void>()
  readonly #finished = new Map<string, number>()
  /** Last signals of calls, for when there is a connection again. */
  #unsent: { readonly signal: OutgoingSignal; readonly at: number }[] = []
  readonly #undo: (() => void)[] = []
  #state: CallState = 'idle'
  #call: OneCall | undefined
  #end: CallEnd | undefined
  #isVideoDropped = false
  #making: Promise<void> = Promise.resolve()
  #stopWaiting: () => void = () => {}

  /**
   * @param openPeer carries the media: `webRtc()` of `@sotto/client/browser`
   * @throws ClientError `INVALID_ARGUMENT` for a client that has calls already
   */
  constructor(client: SottoClient, openPeer: OpenCallPeer, { relayOnly = false }: CallsOptions = {}) {
    const device = doorOf(client)
    if (!(device instanceof Device))
      throw new ClientError('UNSUPPORTED', 'calls need a SottoClient, which is of one tab')
    const { emitter } = device
    if (emitter.onCall) throw new ClientError('INVALID_ARGUMENT', 'this client has calls already')
    this.#device = device
    this.#emitter = emitter
    this.#signals = new CallSignals(device, {
      onSignal: (signal) => this.#onSignal(signal),
      onRefused: (from, reason) => this.#onRefused(from, reason),
      onError: (error) => this.#tellError(error),
    })
    this.#around = { device, signals: this.#signals, openPeer, relayOnly }
    emitter.onCall = (frame) => this.#onFrame(frame)
    this.#undo.push(
      () => {
        emitter.onCall = undefined
      },
      emitter.on('network_state', (state) => {
        if (state === 'connected') this.#onConnected()
        if (state === 'disconnected') this.#happen('stopped')
      }),
      emitter.on('security_violation', () => {
        if (this.#hasChangedKeys()) this.#happen('failed')
      }),
    )
  }

  /** Where the latest call is; `idle` before there was one. */
  get state(): CallState {
    return this.#state
  }

  /** The latest call, over or not. */
  get current(): CallInfo | undefined {
    const call = this.#call
    if (!call) return undefined
    const { id, conversationId, isCaller } = call.parties
    return {
      id,
      conversationId,
      isCaller,
      state: this.#state,
      ...(this.#end === undefined ? {} : { end: this.#end }),
      ownMedia: call.ownMedia,
      theirMedia: call.theirMedia,
      ...(call.theirStream === undefined ? {} : { theirStream: call.theirStream }),
      isVideoDropped: this.#isVideoDropped,
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
   *   where media cannot be encrypted or, with `relayOnly`, relayed, `UNKNOWN_CONTACT`, `KEY_CHANGED`
   */
  async call(contact: string, stream?: MediaStream): Promise<CallInfo> {
    const { sessions, connection, identity } = this.#device.needEngine()
    if (!nextOf(this.#state, 'call')) throw new ClientError('INVALID_ARGUMENT', 'there is a call already')
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
    this.#happen('call', { call })
    return this.#made(call)
  }

  /**
   * Takes the call that is ringing, to send what `stream` holds. Resolves once the answer is on its way.
   * @throws ClientError `INVALID_ARGUMENT` where nothing rings, and what `call` throws
   */
  async accept(stream?: MediaStream): Promise<CallInfo> {
    const call = this.#call
    if (!call || !nextOf(this.#state, 'accept')) throw new ClientError('INVALID_ARGUMENT', 'nothing rings')
    call.stream = stream
    this.#happen('accept')
    return this.#made(call)
  }

  /** Ends the call, or rejects the one that rings. Does nothing where there is none. */
  hangUp(): void {
    this.#happen('hang_up')
  }

  /**
   * Sends another track in a call, or nothing of that kind (`null`): to mute, and to turn video off and on. The other side is
   * told.
   * @throws ClientError `INVALID_ARGUMENT` where there is no call
   */
  async setTrack(kind: CallTrackKind, track: MediaStreamTrack | null): Promise<void> {
    const isOn = this.#state === 'calling' || this.#state === 'connecting' || this.#state === 'connected'
    if (!this.#call || !isOn) throw new ClientError('INVALID_ARGUMENT', 'there is no call')
    if (kind === 'video') this.#isVideoDropped = false
    await this.#call.setTrack(kind, track)
  }

  /** Ends the call there is, and takes no more. */
  close(): void {
    this.hangUp()
    for (const undo of this.#undo.splice(0)) undo()
  }

  #happen(event: CallEvent, happening: Happening = {}): void {
    const next = nextOf(this.#state, event)
    if (!next) return
    const before = this.#state
    this.#state = next.to
    // Before the effects: those may begin the next call.
    this.#end = next.end === 'declined' && happening.fields?.reason === 'busy' ? 'busy' : next.end
    for (const effect of next.effects) this.#carryOut(effect, happening)
    if (before !== next.to || next.effects.includes('begin')) this.#tellChange()
  }

  #carryOut(effect: CallEffect, { call: offered, from = '', fields = {} }: Happening): void {
    if (effect === 'begin') {
      this.#call = offered
      this.#isVideoDropped = false
      return
    }
    if (effect === 'send_busy') {
      if (offered) this.#sendLast(offered.lastSignal('call_reject', { reason: 'busy' }))
      return
    }
    const call = this.#call
    if (!call) return
    switch (effect) {
      case 'make_offer':
        this.#making = call.makeOffer()
        return
      case 'make_answer':
        this.#making = call.makeAnswer()
        return
      case 'take_answer':
        if (!call.takeAnswer(from, fields)) this.#onFailed(call, noAnswer())
        return
      case 'take_candidate':
        return call.takeIce(fields)
      case 'send_reject':
        return this.#sendLast(call.lastSignal('call_reject'))
      case 'send_hangup':
        return this.#sendLast(call.lastSignal('call_hangup'))
      case 'send_again':
        return call.sendAgain()
      case 'drop_video':
        return this.#dropVideo(call)
      case 'wait_for_answer':
        return this.#waitFor(ANSWER_WITHIN_MS)
      case 'wait_for_media':
        return this.#waitFor(MEDIA_WITHIN_MS)
      case 'stop_waiting':
        this.#stopWaiting()
        return call.settle()
      case 'close':
        this.#stopWaiting()
        this.#finished.set(call.parties.id, this.#now())
        return call.close()
    }
  }

  #waitFor(ms: number): void {
    this.#stopWaiting()
    this.#stopWaiting = this.#device.platform.clock.after(ms, () => this.#happen('timeout'))
  }

  /** Awaits what `make_offer` or `make_answer` has begun. */
  async #made(call: OneCall): Promise<CallInfo> {
    try {
      await this.#making
    } catch (thrown) {
      if (this.#call === call) this.#happen('failed')
      throw asClientError(thrown, 'UNSUPPORTED')
    }
    const info = this.current
    if (!info) throw new ClientError('ABORTED', 'the call is over')
    return info
  }

  #onFrame(frame: CallFrameOrRefusal): void {
    if (frame.type !== 'error') {
      this.#signals.receive(frame)
      return
    }
    const isOurs = frame.call_id === this.#call?.parties.id && this.#state === 'calling'
    // The relay tells of the error by itself; a candidate that was one too many ends no call.
    if (isOurs && frame.error !== 'RATE_LIMITED') this.#happen('failed')
  }

  #onSignal(signal: IncomingSignal): void {
    const { type, callId, conversationId, from, fields } = signal
    const current = this.#isFree() ? undefined : this.#call
    const isSameContact = current?.parties.conversationId === conversationId
    if (current && isSameContact && current.parties.id === callId) {
      this.#happen(type, { from, fields })
      return
    }
    this.#forgetFinished()
    // Of a call that is over, or never was.
    if (type !== 'call_offer' || this.#finished.has(callId)) return
    const call = this.#offered(signal)
    if (!call) return this.#onRefused(from, 'MALFORMED')
    if (!current) return this.#happen('call_offer', { call })
    if (!isSameContact) return this.#happen('other_offer', { call })
    // What was to be sent with the own offer is sent with the answer, should theirs go before.
    call.stream = current.stream
    const isFirst = from < current.parties.ownAlias
    this.#happen(isFirst ? 'peer_offer_first' : 'peer_offer_second', { call })
    // An answer that nobody asked for, as both called.
    if (this.#call === call) this.#making.catch((error: unknown) => this.#onFailed(call, error))
  }

  #offered(signal: IncomingSignal): OneCall | undefined {
    const { identity } = this.#device.needEngine()
    const parties: CallParties = {
      id: signal.callId,
      conversationId: signal.conversationId,
      isCaller: false,
      ownAlias: identity.stored.aliasId,
    }
    const call: OneCall | undefined = OneCall.offered(
      this.#around,
      parties,
      signal,
      this.#listenerOf(() => call),
    )
    return call
  }

  #listenerOf(callOf: () => OneCall | undefined): ConstructorParameters<typeof OneCall>[2] {
    const ifCurrent = (run: () => void): void => {
      if (this.#call === callOf()) run()
    }
    return {
      onMedia: (event) => ifCurrent(() => this.#happen(event)),
      onChange: () => ifCurrent(() => this.#tellChange()),
      onFailed: (error) => {
        const call = callOf()
        if (call) this.#onFailed(call, error)
      },
    }
  }

  #onFailed(call: OneCall, error: unknown): void {
    if (this.#call !== call || this.#isFree()) return
    this.#happen('failed')
    this.#tellError(error)
  }

  #dropVideo(call: OneCall): void {
    if (!call.ownMedia.video) return
    this.#isVideoDropped = true
    call.setTrack('video', null).catch((error: unknown) => this.#onFailed(call, error))
  }

  #onConnected(): void {
    const now = this.#now()
    // Who did not answer in that time has given up.
    for (const { signal, at } of this.#unsent.splice(0))
      if (now - at < ANSWER_WITHIN_MS) this.#sendLast(signal)
    this.#happen('reconnected')
  }

  #sendLast(signal: OutgoingSignal): void {
    const at = this.#now()
    this.#signals.send(signal).then(
      (isSent) => {
        if (!isSent) this.#unsent.push({ signal, at })
      },
      (error: unknown) => this.#tellError(error),
    )
  }

  #hasChangedKeys(): boolean {
    const sessions = this.#device.engine?.sessions
    const session = sessions?.find(this.#call?.parties.conversationId ?? '')
    return session !== undefined && sessions?.hasChangedKeys(session) === true
  }

  #isFree(): boolean {
    return callTransitions[this.#state].call !== undefined
  }

  #forgetFinished(): void {
    const now = this.#now()
    for (const [id, at] of this.#finished) if (now - at > REMEMBER_MS) this.#finished.delete(id)
  }

  #now(): number {
    return this.#device.platform.clock.now()
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

function noAnswer(): ClientError {
  return new ClientError('BAD_REPLY', 'the other side answered without a description')
}
