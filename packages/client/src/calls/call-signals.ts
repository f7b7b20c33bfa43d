// The signals of calls: signs, seals and sends them in order; opens and checks received ones, and drops
// replayed ones.
import { type CallSignal, decodeBase64, openCallSignal, SeenCallNonces, sealCallSignal } from '@sotto/crypto'
import { type CallFrameType, CallId, CryptoVersion, check, Payload, type RelayFrame } from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import type { Device } from '../device.ts'
import type { Engine } from '../engine.ts'
import { SerialQueue } from '../platform/platform.ts'
import type { SessionRecord } from '../stores/stores.ts'
import type { CallRefusal, OutgoingSignal } from './carried-calls.ts'

/**
 * The maximum of received signals that wait to be opened. More are dropped; a relay may lose signals anyway.
 */
const MAX_WAITING = 256

/** A call frame from the relay. */
export type ReceivedFrame = Extract<RelayFrame, { readonly type: CallFrameType }>

/** A received signal that passed every check. */
export interface IncomingSignal extends CallSignal {
  readonly conversationId: string
  /** See `CallParties`. */
  readonly callEpoch?: number | undefined
}

/** Receives the signals. */
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
  readonly #receiving = new SerialQueue()
  readonly #sending = new SerialQueue()
  #waiting = 0
  /**
   * The engine that is about to stop. The last signals are sent through it, although the device has dropped
   * it.
   */
  #stopping: Engine | undefined

  constructor(device: Device, listener: CallSignalListener) {
    this.#device = device
    this.#listener = listener
  }

  /** Handles a call frame from the relay. */
  receive(frame: ReceivedFrame): void {
    const { engine } = this.#device
    if (!engine || this.#waiting >= MAX_WAITING) return
    this.#waiting += 1
    this.#receiving
      .run(() => this.#open(engine, frame))
      .catch((error: unknown) => this.#listener.onError(error))
      .finally(() => {
        this.#waiting -= 1
      })
  }

  /**
   * Sends a signal after the earlier ones. Returns false without a connection. The signal is signed when it
   * is sent, because receivers refuse old ones.
   * @throws ClientError `KEY_CHANGED`, `UNKNOWN_CONTACT`, `NO_IDENTITY`, `LOCKED`, `CLOSED`
   */
  async send(signal: OutgoingSignal): Promise<boolean> {
    // Read now, not in the queue: by then the client may be locked or closed, and must still send this
    // signal.
    const engine = this.#stopping ?? this.#device.needEngine()
    return this.#sending.run(async () => {
      const { sessions, identity, connection } = engine
      if (connection.state !== 'connected') return false
      const session = sessions.get(signal.conversationId)
      if (!sessions.guard(session))
        throw new ClientError('KEY_CHANGED', 'the keys of this contact have changed')
      const { clock, random } = this.#device.platform
      const { type, from, callId, fields, callEpoch } = signal
      const to = session.theirAliasId
      const { crypto_v, payload } =
        callEpoch === undefined
          ? await sealCallSignal({
              ...{ type, to, from, callId, fields, sessionKey: sessions.keyOf(session) },
              signingPrivateKey: identity.keys.signing.privateKey,
              nowMs: clock.now(),
              randomBytes: random,
            })
          : {
              crypto_v: 3,
              payload: await (await engine.forward)?.calls.seal(session, { ...signal, callEpoch }),
            }
      // If the engine was stopped meanwhile and its keys were dropped, `connection.send` sends nothing.
      return connection.send({
        ...{ type, to, from },
        call_id: check(CallId, callId),
        crypto_v: check(CryptoVersion, crypto_v),
        payload: check(Payload, payload),
      })
    })
  }

  /**
   * Runs `sendAll` and sends its signals through an engine that is about to stop. Resolves once all are sent.
   */
  async sendLast(engine: Engine, sendAll: () => void): Promise<void> {
    this.#stopping = engine
    try {
      sendAll()
    } catch (error) {
      // An error of a call must not keep the client from dropping its keys and closing its store.
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
    const seenNonces = this.#seen
    const forward = await engine.forward
    const opened =
      (await forward?.calls.open(session, frame, seenNonces, () => this.receive(frame))) ??
      (await openCallSignal({
        ...{ frame, sessionKey: sessions.keyOf(session), nowMs, seenNonces },
        signingPublicKey: decodeBase64(signingKey),
      }))
    if (this.#device.engine !== engine || opened === 'later') return
    if (!opened.ok) return this.#listener.onRefused(frame.from, opened.reason)
    // The relay reported other keys while the signal was being opened.
    if (!sessions.isCurrent(session)) return this.#listener.onRefused(frame.from, 'KEY_CHANGED')
    this.#seen.add(opened.signal.nonce, nowMs)
    this.#listener.onSignal({ ...opened.signal, conversationId: session.conversationId })
  }

  /**
   * The session of a signal's sender. An unknown alias may be a friend's new one, so the friend list is
   * fetched.
   */
  async #sessionOf(engine: Engine, { type, from }: ReceivedFrame): Promise<SessionRecord | undefined> {
    const known = findSession(engine, from)
    if (known || type !== 'call_offer') return known
    await engine.friends.sync()
    return findSession(engine, from)
  }
}

function findSession({ sessions }: Engine, aliasId: string): SessionRecord | undefined {
  // A contact that has the alias now takes precedence over contacts that had it before.
  const all = sessions.list()
  return (
    all.findLast((session) => session.theirAliasId === aliasId) ??
    all.findLast((session) => sessions.isTheirAlias(session, aliasId))
  )
}
