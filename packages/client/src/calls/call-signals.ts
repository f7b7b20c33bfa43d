// The signals of calls: signed, sealed and sent in order; received ones opened, checked, and seen once.
import {
  type CallSignal,
  type CallSignalFields,
  type CallSignalRefusal,
  type CallSignalType,
  decodeBase64,
  openCallSignal,
  SeenCallNonces,
  sealCallSignal,
} from '@sotto/crypto'
import {
  type AliasId,
  type CallFrameType,
  CallId,
  CryptoVersion,
  check,
  Payload,
  type RelayFrame,
} from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import type { Device } from '../device.ts'
import type { Engine } from '../engine.ts'
import type { SessionRecord } from '../stores/records.ts'
import { Turns } from '../turns.ts'

/** Received and not opened yet, at most. Those beyond are lost, as a relay may lose them. */
const MAX_WAITING = 256

/** A frame of a call, as it comes from the relay. */
export type ReceivedFrame = Extract<RelayFrame, { readonly type: CallFrameType }>

/** A signal to be sent. */
export interface OutgoingSignal {
  readonly type: CallSignalType
  readonly conversationId: string
  readonly callId: string
  /** The alias this side goes by in this call. */
  readonly from: AliasId
  readonly fields: CallSignalFields
}

/** A signal that was received and passed every check. */
export interface IncomingSignal extends CallSignal {
  readonly conversationId: string
}

/** Why a received signal was dropped. */
export type CallRefusal = CallSignalRefusal | 'UNKNOWN_CONTACT' | 'KEY_CHANGED'

/** Whom signals are handed to. */
export interface CallSignalListener {
  onSignal(signal: IncomingSignal): void
  onRefused(from: string, reason: CallRefusal): void
  onError(error: unknown): void
}

/** The signals of one client. */
export class CallSignals {
  readonly #device: Device
  readonly #listener: CallSignalListener
  readonly #seen = new SeenCallNonces()
  readonly #receiving = new Turns()
  readonly #sending = new Turns()
  #waiting = 0
  /** About to stop: what is sent now goes out by it, though it is nobody's engine any more. */
  #stopping: Engine | undefined

  constructor(device: Device, listener: CallSignalListener) {
    this.#device = device
    this.#listener = listener
  }

  /** Takes a frame of the relay. */
  receive(frame: ReceivedFrame): void {
    const { engine } = this.#device
    if (!engine || this.#waiting >= MAX_WAITING) return
    this.#waiting += 1
    this.#receiving
      .take(() => this.#open(engine, frame))
      .catch((error: unknown) => this.#listener.onError(error))
      .finally(() => {
        this.#waiting -= 1
      })
  }

  /**
   * Sends a signal after those before, or answers false where there is no connection. Signed when it goes out: nobody
   * takes an old one.
   * @throws ClientError `KEY_CHANGED`, `UNKNOWN_CONTACT`, `NO_IDENTITY`, `LOCKED`, `CLOSED`
   */
  async send(signal: OutgoingSignal): Promise<boolean> {
    // Not in its turn: the client may be locked or closed by then, and still send what was said before.
    const engine = this.#stopping ?? this.#device.needEngine()
    return this.#sending.take(async () => {
      const { sessions, identity, connection } = engine
      if (connection.state !== 'connected') return false
      const session = sessions.get(signal.conversationId)
      if (!sessions.guard(session))
        throw new ClientError('KEY_CHANGED', 'the keys of this contact are not those recorded')
      const { clock, random } = this.#device.platform
      const { crypto_v, payload } = await sealCallSignal({
        type: signal.type,
        to: session.theirAliasId,
        from: signal.from,
        callId: signal.callId,
        fields: signal.fields,
        sessionKey: sessions.keyOf(session),
        signingPrivateKey: identity.keys.signing.privateKey,
        nowMs: clock.now(),
        randomBytes: random,
      })
      // Stopped meanwhile, and its keys put away: this sends nothing then.
      return connection.send({
        type: signal.type,
        to: session.theirAliasId,
        call_id: check(CallId, signal.callId),
        from: signal.from,
        crypto_v: check(CryptoVersion, crypto_v),
        payload: check(Payload, payload),
      })
    })
  }

  /** Sends what `say` has sent by an engine that is about to stop. Resolves once all has left; waits for no network. */
  async sendLast(engine: Engine, say: () => void): Promise<void> {
    this.#stopping = engine
    try {
      say()
    } catch (error) {
      // Keys are put away and stores closed whatever ails a call.
      this.#listener.onError(error)
    } finally {
      this.#stopping = undefined
    }
    await this.#sending.settled()
  }

  async #open(engine: Engine, frame: ReceivedFrame): Promise<void> {
    const session = await this.#sessionOf(engine, frame)
    const { sessions } = engine
    const signingKey = session?.theirEd25519PublicKey
    if (!session || signingKey === undefined) return this.#listener.onRefused(frame.from, 'UNKNOWN_CONTACT')
    if (!sessions.guard(session)) return this.#listener.onRefused(frame.from, 'KEY_CHANGED')
    const nowMs = this.#device.platform.clock.now()
    const opened = await openCallSignal({
      frame,
      sessionKey: sessions.keyOf(session),
      signingPublicKey: decodeBase64(signingKey),
      nowMs,
      seenNonces: this.#seen,
    })
    if (this.#device.engine !== engine) return
    if (!opened.ok) return this.#listener.onRefused(frame.from, opened.reason)
    // Other keys were shown while this one was being opened.
    if (!sessions.isCurrent(session)) return this.#listener.onRefused(frame.from, 'KEY_CHANGED')
    this.#seen.add(opened.signal.nonce, nowMs)
    this.#listener.onSignal({ ...opened.signal, conversationId: session.conversationId })
  }

  /** The session with who signals. A friend nobody knows by this alias has a new one, which the friend list tells. */
  async #sessionOf(engine: Engine, { type, from }: ReceivedFrame): Promise<SessionRecord | undefined> {
    const known = findSession(engine, from)
    if (known || type !== 'call_offer') return known
    await engine.friends.sync()
    return findSession(engine, from)
  }
}

function findSession({ sessions }: Engine, aliasId: string): SessionRecord | undefined {
  // The contact that has the alias goes before those that had it.
  const all = sessions.list()
  return (
    all.findLast((session) => session.theirAliasId === aliasId) ??
    all.findLast((session) => sessions.isTheirAlias(session, aliasId))
  )
}
