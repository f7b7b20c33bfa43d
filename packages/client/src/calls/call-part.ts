// The part of calls that runs next to the store: the signals, the keys of media, and which tab has the call.
import { deriveCallMediaKey } from '@sotto/crypto'
import { callEndpoints } from '@sotto/protocol'
import * as v from 'valibot'
import { asClientError, ClientError } from '../client-error.ts'
import type { Device } from '../device.ts'
import type { CallFrameOrRefusal, Engine } from '../engine.ts'
import { ModulePart, type Publish } from '../module-part.ts'
import { CallRecord } from '../stores/stores.ts'
import { tabMethod } from '../tab-method.ts'
import { CallRecords, logCall } from './call-log.ts'
import { watchPresence } from './call-presence.ts'
import { CallSignals } from './call-signals.ts'
import { ANSWER_WITHIN_MS } from './call-states.ts'
import {
  CallSides,
  CarriedCall,
  callReported,
  HeldCall,
  hangUpAsked,
  IceServers,
  isOver,
  keysChanged,
  MediaSecrets,
  OutgoingSignal,
  relayRefused,
  signalArrived,
  signalRefused,
  stopped,
} from './carried-calls.ts'
import { LastSignals } from './last-signals.ts'
import { RingingCalls } from './ringing-calls.ts'

/** How many logged calls are remembered. */
const MAX_LOGGED = 100

const KeyInput = v.object({
  callId: v.string(),
  conversationId: v.string(),
  senderAlias: v.string(),
  mid: v.string(),
  epoch: v.number(),
})
type KeyInput = v.InferOutput<typeof KeyInput>

/** The part of calls next to the store. It serves the `Calls` of every tab. */
export class CallPart {
  readonly #device: Device
  readonly #publish: Publish
  readonly #signals: CallSignals
  readonly #lastSignals: LastSignals
  /** Makes the record of a call whose tab is gone. */
  readonly #records: CallRecords
  /** The logged calls: each tab in which a call rang reports it. */
  readonly #logged = new Set<string>()
  /** The calls that no tab has yet. */
  readonly #ringing: RingingCalls
  /** The engine that stops, while it stops. */
  #stopping: Engine | undefined
  /** The call that a tab has. */
  #held: HeldCall | undefined
  #stopWatching: () => void = () => {}
  /** The call that this part has ended itself, because its tab is gone or the client stops. */
  #ended: string | undefined
  /** The latest call of which a tab has sent the last signal or reported the end. */
  #finished: string | undefined

  constructor(device: Device, publish: Publish) {
    const onError = (error: unknown): void => this.#emitError(error)
    this.#records = new CallRecords(() => device.platform.clock.now())
    this.#ringing = new RingingCalls(device.platform.clock)
    this.#device = device
    this.#publish = publish
    this.#signals = new CallSignals(device, {
      onSignal: (signal) => {
        if (!this.#held && signal.callId !== this.#finished) this.#ringing.add(signal)
        publish(signalArrived, { signal, tab: this.#held?.tab })
      },
      onRefused: (from, reason) => publish(signalRefused, { from, reason }),
      onError,
    })
    this.#lastSignals = new LastSignals(this.#signals, device.platform.clock, onError)
    const onFrame = (frame: CallFrameOrRefusal): void => {
      if (frame.type === 'error') publish(relayRefused, { callId: frame.call_id, code: frame.error })
      else this.#signals.receive(frame)
    }
    device.callHooks.onFrame = onFrame
    // A call that came before the application made its calls rings now, unless its time is over.
    const { clock } = device.platform
    for (const { frame, atMs } of device.callHooks.early.splice(0))
      if (clock.now() - atMs < ANSWER_WITHIN_MS) onFrame(frame)
    device.callHooks.onStop = (engine) =>
      this.#signals.sendLast(engine, () => {
        this.#stopping = engine
        this.#stop()
        this.#stopping = undefined
      })
    device.emitter.on('network_state', (state) => {
      if (state === 'connected') this.#lastSignals.sendUnsent()
    })
    device.emitter.on('security_violation', () => {
      const sessions = device.engine?.sessions
      const changed = sessions?.list().filter((session) => sessions.changedCode(session)) ?? []
      publish(keysChanged, { conversationIds: changed.map(({ conversationId }) => conversationId) })
    })
  }

  /** The two sides of a call to a contact. @throws ClientError as `Calls.call` */
  async sidesOf(contact: string): Promise<v.InferOutput<typeof CallSides>> {
    const engine = this.#device.needEngine()
    const { sessions, connection, identity } = engine
    const session = sessions.get(contact)
    if (!sessions.guard(session))
      throw new ClientError('KEY_CHANGED', 'the keys of this contact have changed')
    if (connection.state !== 'connected')
      throw new ClientError('NETWORK', 'there is no connection to the relay')
    const callEpoch = await (await engine.forward)?.calls.begin(session)
    return { conversationId: session.conversationId, ownAlias: identity.stored.aliasId, callEpoch }
  }

  /** A tab joins: it gets the signals of calls that ring. Returns the call that a tab has. */
  join(tab: string): HeldCall | undefined {
    for (const signal of this.#ringing.signals()) this.#publish(signalArrived, { signal, tab })
    return this.#held
  }

  /**
   * A tab has a call, whose lock it holds, or reports how it is. Returns false if another tab has one, or if
   * the call has ended.
   */
  report(tab: string, call: CarriedCall): boolean {
    const held = this.#held
    const isEnd = isOver(call.state)
    const isLate = !isEnd && call.id === this.#finished
    if (call.id === this.#ended || (held ? held.tab !== tab : isLate)) return false
    this.#records.follow(call)
    this.#ringing.end(call.id)
    if (isEnd) {
      this.#finished = call.id
      if (held?.call.id === call.id) this.#release()
    } else if (held?.call.id === call.id) this.#held = { tab, call }
    else this.#hold({ tab, call })
    this.#publish(callReported, { tab, call })
    return true
  }

  /** A tab knows of a call that began before this part was opened. */
  adopt(held: HeldCall): void {
    if (this.#held) return
    this.#records.follow(held.call)
    this.#hold(held)
  }

  /** Stores a call that has ended, unless another tab has it: that tab was the first to decide. */
  log(tab: string, record: CallRecord): void {
    const engine = this.#stopping ?? this.#device.engine
    const isOfOther = this.#held?.call.id === record.id && this.#held.tab !== tab
    if (!engine || isOfOther || this.#logged.has(record.id)) return
    this.#logged.add(record.id)
    for (const id of this.#logged) if (this.#logged.size > MAX_LOGGED) this.#logged.delete(id)
    engine.work(logCall(this.#device, engine, record)).catch((error: unknown) => this.#emitError(error))
  }

  /** Asks the tab that has the call to end it. */
  hangUp(callId: string): void {
    this.#publish(hangUpAsked, { callId })
  }

  /** See `CallSignals.send`. Signals about a call that another tab has, or that has ended, are not sent. */
  async send(tab: string, signal: OutgoingSignal): Promise<boolean> {
    const { callId } = signal
    const isHeld = this.#held?.call.id === callId
    if ((isHeld && this.#held?.tab !== tab) || callId === this.#ended) return true
    if (signal.type === 'call_hangup' || signal.type === 'call_reject') {
      this.#finished = callId
      this.#ringing.end(callId)
    }
    return this.#signals.send(signal)
  }

  /** The key material of one side, track and epoch. */
  mediaKey({ conversationId, ...input }: KeyInput): Promise<Uint8Array> {
    const { sessions } = this.#device.needEngine()
    return deriveCallMediaKey({ ...input, sessionKey: sessions.keyOf(sessions.get(conversationId)) })
  }

  /** The secrets of a call's media under version 3. @throws ClientError `UNDECRYPTABLE` without keys */
  async mediaSecrets(
    conversationId: string,
    callId: string,
    epoch: number,
  ): Promise<v.InferOutput<typeof MediaSecrets>> {
    const { forward, sessions } = this.#device.needEngine()
    const secrets = await (await forward)?.calls.mediaSecrets(sessions.get(conversationId), callId, epoch)
    if (!secrets) throw new ClientError('UNDECRYPTABLE', 'this client has no forward secrecy')
    return secrets
  }

  /**
   * Fetches the servers of a call's media.
   * @throws ClientError `UNSUPPORTED` with `relayOnly` if the relay has no TURN server; errors of the request
   */
  async iceServers(relayOnly: boolean): Promise<IceServers> {
    const { http } = this.#device.needEngine()
    const config = await http.call(callEndpoints.iceConfig, { query: relayOnly ? { mode: 'relay' } : {} })
    if (relayOnly && config.ice_servers.length === 0)
      throw new ClientError('UNSUPPORTED', 'the relay has no TURN server to send media through')
    return {
      servers: config.ice_servers.map(({ urls, username, credential }) => ({
        urls,
        ...(username === undefined ? {} : { username }),
        ...(credential === undefined ? {} : { credential }),
      })),
      relayOnly: relayOnly || config.ice_transport_policy === 'relay',
    }
  }

  #hold(held: HeldCall): void {
    this.#release()
    this.#held = held
    this.#stopWatching = watchPresence(held.tab, held.call.id, () => this.#end('connection_lost'))
  }

  #release(): void {
    this.#stopWatching()
    this.#stopWatching = () => {}
    this.#held = undefined
  }

  /** The engine stops: calls end, while their last signals can be sent. */
  #stop(): void {
    // The tabs of a client that only moves to another tab keep their calls: none of them hears this.
    this.#publish(stopped, {})
    this.#ringing.clear()
    // The tab with the call is another one. Its hangup would come too late.
    if (!this.#device.isClosed) this.#end('stopped')
  }

  /** Ends the call of a tab that cannot do so itself. */
  #end(end: 'stopped' | 'connection_lost'): void {
    const held = this.#held
    if (!held) return
    const { tab, call } = held
    const { id: callId, conversationId, ownAlias: from, callEpoch } = call
    this.#release()
    const signal = { conversationId, callId, from, fields: {}, callEpoch }
    if (callId !== this.#finished) this.#lastSignals.send({ type: 'call_hangup', ...signal })
    this.#ended = callId
    const ended: CarriedCall = { ...call, state: 'ended', end }
    const record = this.#records.follow(ended)
    if (record) this.log(tab, record)
    this.#publish(callReported, { tab, call: ended })
  }

  #emitError(error: unknown): void {
    this.#device.emitter.emit('error', asClientError(error, 'UNSUPPORTED'))
  }
}

/** See `CallPart.sidesOf`. */
export const sidesOf = tabMethod(
  'calls.sides',
  { takes: v.tuple([v.string()]), answers: CallSides },
  (part: CallPart, contact) => part.sidesOf(contact),
)
/** See `CallPart.join`. */
export const joinCalls = tabMethod(
  'calls.join',
  { takes: v.tuple([v.string()]), answers: v.optional(HeldCall) },
  (part: CallPart, tab) => part.join(tab),
)
/** See `CallPart.report`. */
export const reportCall = tabMethod(
  'calls.report',
  { takes: v.tuple([v.string(), CarriedCall]), answers: v.boolean() },
  (part: CallPart, ...args) => part.report(...args),
)
/** See `CallPart.adopt`. */
export const adoptCall = tabMethod(
  'calls.adopt',
  { takes: v.tuple([HeldCall]), answers: v.void() },
  (part: CallPart, held) => part.adopt(held),
)
/** See `CallPart.log`. */
export const logCallOf = tabMethod(
  'calls.log',
  { takes: v.tuple([v.string(), CallRecord]), answers: v.void() },
  (part: CallPart, ...args) => part.log(...args),
)
/** See `CallPart.hangUp`. */
export const hangUpCall = tabMethod(
  'calls.hang_up',
  { takes: v.tuple([v.string()]), answers: v.void() },
  (part: CallPart, callId) => part.hangUp(callId),
)
/** See `CallPart.send`. */
export const sendSignal = tabMethod(
  'calls.send',
  { takes: v.tuple([v.string(), OutgoingSignal]), answers: v.boolean() },
  (part: CallPart, ...args) => part.send(...args),
)
/** See `CallPart.mediaKey`. */
export const mediaKey = tabMethod(
  'calls.media_key',
  { takes: v.tuple([KeyInput]), answers: v.instance(Uint8Array) },
  (part: CallPart, input) => part.mediaKey(input),
)
/** See `CallPart.mediaSecrets`. */
export const mediaSecrets = tabMethod(
  'calls.media_secrets',
  { takes: v.tuple([v.string(), v.string(), v.number()]), answers: MediaSecrets },
  (part: CallPart, ...args) => part.mediaSecrets(...args),
)
/** See `CallPart.iceServers`. */
export const iceServers = tabMethod(
  'calls.ice_servers',
  { takes: v.tuple([v.boolean()]), answers: IceServers },
  (part: CallPart, relayOnly) => part.iceServers(relayOnly),
)

/** The part of calls. */
export const callPart = new ModulePart<CallPart>({
  methods: [
    sidesOf,
    joinCalls,
    reportCall,
    adoptCall,
    logCallOf,
    hangUpCall,
    sendSignal,
    mediaKey,
    mediaSecrets,
    iceServers,
  ],
  open: (device, publish) => new CallPart(device, publish),
})
