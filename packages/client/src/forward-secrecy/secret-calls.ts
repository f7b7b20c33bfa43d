// Calls under version 3: seals and opens their signals, and gives the secrets of their media. No signal
// advances the ratchet of the conversation, so a lost one costs no message.
import { decodeBase64, encodeBase64 } from '@sotto/crypto'
import {
  type AccountKeys,
  type CallKeyPlace,
  deriveMediaSecret,
  epochOfSignal,
  openSecretSignal,
  sealSecretSignal,
} from '@sotto/crypto/version-3'
import type { ConversationId } from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import { deferred } from '../platform/platform.ts'
import { isSettled, presentOf, type Step } from '../secrecy/version-3/version-3.ts'
import type { SessionRecord } from '../stores/stores.ts'
import type {
  CallSecrecy,
  MediaSecrets,
  OpenedSignal,
  ReceivedSignalFrame,
  SeenNonces,
  SignalToSeal,
} from './call-secrecy.ts'
import type { ForwardContext } from './forward-context.ts'
import { ofLaterVersion, type RunningCourse } from './running-course.ts'

/** How long a call waits for a group that is surely the present one, in milliseconds. */
const PREPARE_WITHIN_MS = 20_000
/** A signal is refused when it is older, in milliseconds, so it waits no longer for its epoch. */
const EARLY_MS = 60_000
/** How many signals of a conversation wait for their epoch: an offer with its candidates. */
const MAX_EARLY = 72

/** A signal that waits for its epoch. */
interface Early {
  readonly epoch: number
  readonly atMs: number
  readonly again: () => void
}

export interface CallHost {
  readonly context: Pick<ForwardContext, 'platform' | 'speaks'>
  readonly own: AccountKeys
  readonly courseOf: (conversationId: ConversationId) => RunningCourse
}

/** The calls of one identity under version 3. */
export class SecretCalls implements CallSecrecy {
  readonly #host: CallHost
  readonly #early = new Map<ConversationId, readonly Early[]>()
  /** What looks at the steps of conversations in which calls are prepared. */
  readonly #watching = new Map<ConversationId, Set<(made: Step) => void>>()

  constructor(host: CallHost) {
    this.#host = host
  }

  async begin(session: SessionRecord): Promise<number | undefined> {
    if (!(await this.#host.context.speaks(session))) return undefined
    const { conversationId } = session
    const course = this.#host.courseOf(conversationId)
    const settled = this.#untilSettled(conversationId)
    try {
      await course.give({ type: 'peer_speaks' })
      if ((await course.give({ type: 'call' })) === 'later_version') throw ofLaterVersion()
      return await settled.promise
    } finally {
      settled.end()
    }
  }

  async seal({ conversationId }: SessionRecord, signal: SignalToSeal): Promise<string> {
    const { platform } = this.#host.context
    const present = await this.#host.courseOf(conversationId).callSecret()
    if (!present) throw noKeys()
    const { epoch, secret: epochSecret } = present
    const sealed = await sealSecretSignal({
      ...{ ...signal, conversationId, epoch, epochSecret, sender: this.#host.own },
      ...{ nowMs: platform.clock.now(), randomBytes: platform.random },
    })
    epochSecret.fill(0)
    return encodeBase64(sealed)
  }

  async open(
    session: SessionRecord,
    frame: ReceivedSignalFrame,
    seenNonces: SeenNonces,
    again: () => void,
  ): Promise<OpenedSignal | undefined> {
    const { conversationId } = session
    const course = this.#host.courseOf(conversationId)
    if (frame.crypto_v !== 3) {
      // A contact in a group with this device calls under version 3. An offer of a lower version comes from
      // somebody who has only the static keys, such as a thief of the phrase, unless the user permitted it.
      const isLower = frame.type === 'call_offer' && !session.lowered && (await course.epoch()) !== undefined
      return isLower ? { ok: false, reason: 'WRONG_VERSION' } : undefined
    }
    const sealed = decodeBase64(frame.payload)
    const epoch = epochOfSignal(sealed)
    if (epoch === undefined) return { ok: false, reason: 'MALFORMED' }
    const epochSecret = await course.callSecretIn(epoch)
    if (epochSecret === 'later') return this.#wait(conversationId, epoch, again)
    if (!epochSecret) return { ok: false, reason: 'UNKNOWN_EPOCH' }
    const nowMs = this.#host.context.platform.clock.now()
    const sender = theirKeys(session)
    const opened = await openSecretSignal({
      ...{ epochSecret, conversationId, sender, frame, sealed, nowMs, seenNonces },
    })
    epochSecret.fill(0)
    if (!opened.ok || opened.signal.type !== 'call_offer') return opened
    // A call whose media this device has no keys for must not ring.
    const media = await course.callSecretIn(opened.signal.callEpoch)
    if (media instanceof Uint8Array) media.fill(0)
    return media === 'later' || !media ? { ok: false, reason: 'UNKNOWN_EPOCH' } : opened
  }

  async mediaSecrets(session: SessionRecord, callId: string, epoch: number): Promise<MediaSecrets> {
    const { conversationId } = session
    const epochSecret = await this.#host.courseOf(conversationId).callSecretIn(epoch)
    if (epochSecret === 'later' || !epochSecret) throw noKeys()
    const place: Omit<CallKeyPlace, 'sender'> = { epochSecret, conversationId, callId, epoch }
    const own = await deriveMediaSecret({ ...place, sender: this.#host.own })
    const theirs = await deriveMediaSecret({ ...place, sender: theirKeys(session) })
    epochSecret.fill(0)
    return { own, theirs }
  }

  /** A step of a conversation is durable. */
  onStep(conversationId: ConversationId, made: Step): void {
    for (const look of [...(this.#watching.get(conversationId) ?? [])]) look(made)
    const present = presentOf(made.course)?.epoch ?? 0
    const early = this.#early.get(conversationId)
    if (!early?.some(({ epoch }) => epoch <= present)) return
    const waiting = early.filter(({ epoch }) => epoch > present)
    if (waiting.length > 0) this.#early.set(conversationId, waiting)
    else this.#early.delete(conversationId)
    for (const { epoch, again } of early) if (epoch <= present) again()
  }

  /** Nothing waits any more. */
  stop(): void {
    this.#early.clear()
  }

  #wait(conversationId: ConversationId, epoch: number, again: () => void): OpenedSignal {
    const atMs = this.#host.context.platform.clock.now()
    const early = (this.#early.get(conversationId) ?? []).filter((each) => atMs - each.atMs < EARLY_MS)
    if (early.length >= MAX_EARLY) return { ok: false, reason: 'UNKNOWN_EPOCH' }
    this.#early.set(conversationId, [...early, { epoch, atMs, again }])
    return 'later'
  }

  /** Looks at the steps from now on. */
  #untilSettled(conversationId: ConversationId): {
    readonly promise: Promise<number>
    readonly end: () => void
  } {
    const { promise, resolve, reject } = deferred<number>()
    // The caller may fail before it awaits this promise, whose failure must not count as unhandled then.
    promise.catch(() => {})
    const look = ({ course }: Step): void => {
      const present = presentOf(course)
      if (present && isSettled(course)) resolve(present.epoch)
      else if (course.stop)
        reject(
          new ClientError('NOT_ALLOWED', 'the forward secrecy of this conversation needs the user’s word'),
        )
    }
    const looks = this.#watching.get(conversationId) ?? new Set()
    this.#watching.set(conversationId, looks.add(look))
    const cancel = this.#host.context.platform.clock.after(PREPARE_WITHIN_MS, () =>
      reject(new ClientError('NETWORK', 'the keys of a call with this contact could not be agreed in time')),
    )
    const end = (): void => {
      cancel()
      looks.delete(look)
      if (looks.size === 0 && this.#watching.get(conversationId) === looks)
        this.#watching.delete(conversationId)
    }
    return { promise, end }
  }
}

/** @throws ClientError `UNDECRYPTABLE` for a contact without a signing key */
function theirKeys({ theirEcdhPublicKey, theirEd25519PublicKey }: SessionRecord): AccountKeys {
  if (theirEd25519PublicKey === undefined) throw noKeys()
  return { x25519: decodeBase64(theirEcdhPublicKey), ed25519: decodeBase64(theirEd25519PublicKey) }
}

function noKeys(): ClientError {
  return new ClientError('UNDECRYPTABLE', 'this device has no keys for this call')
}
