// Call signals (crypto_v 2): signed, sealed, and what a receiver checks before it rings.
import { checkKey, checkText, type RandomBytes, takeRandomBytes } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import { bytesToHex, hexToBytes } from './hex.ts'
import { decryptMessage, encryptMessage } from './message-envelope.ts'
import { sign, verifySignature } from './signature.ts'

/** The `crypto_v` of the scheme in this file. */
export const CALL_SIGNAL_CRYPTO_VERSION = 2

/** How far `_ts` may be off the receiver's clock, in milliseconds. */
export const CALL_SIGNAL_MAX_AGE_MS = 60_000

/**
 * How long a receiver remembers nonces, in milliseconds. Longer than a signal can be fresh, so no replay
 * slips between.
 */
export const CALL_NONCE_MEMORY_MS = 300_000

const NONCE_BYTES = 16
const MAX_DEPTH = 32
const TYPES = ['call_offer', 'call_answer', 'call_reject', 'call_ice', 'call_hangup'] as const
const RESERVED = new Set(['type', 'call_id', 'from', '_ts', '_nonce', '_sig'])

/** The frames of a call. */
export type CallSignalType = (typeof TYPES)[number]

/** A signal as it travels: what the relay sees. */
export interface CallSignalFrame {
  readonly type: CallSignalType
  readonly to: string
  readonly call_id: string
  readonly from: string
  readonly crypto_v: 2
  readonly payload: string
}

/** A signal as it was signed: the inner object without `_sig`. */
export type CallSignalFields = Readonly<Record<string, unknown>>

/** What `sealCallSignal` needs. */
export interface SealCallSignalInput {
  readonly type: CallSignalType
  /** The receiver's alias. */
  readonly to: string
  /** The sender's alias. */
  readonly from: string
  readonly callId: string
  /**
   * The signal's own fields, such as `sdp` and `sdp_type`. Keep them flat: within a nested object only those
   * members are signed whose names are also names at the top (see `canonicalCallSignal`).
   */
  readonly fields: CallSignalFields
  /** 32 bytes: the session key of the two friends' conversation. */
  readonly sessionKey: Uint8Array
  /** 32 bytes: the sender's Ed25519 private key. */
  readonly signingPrivateKey: Uint8Array
  /** Milliseconds since 1970. */
  readonly nowMs: number
  readonly randomBytes: RandomBytes
}

/** The frame as received. Its fields are the relay's word until the payload confirms them. */
export interface ReceivedCallSignalFrame {
  readonly type: string
  readonly call_id: string
  readonly from: string
  readonly crypto_v: number
  readonly payload: string
}

/** What `openCallSignal` needs. */
export interface OpenCallSignalInput {
  readonly frame: ReceivedCallSignalFrame
  /** 32 bytes: the session key of the two friends' conversation. */
  readonly sessionKey: Uint8Array
  /** 32 bytes: the sender's Ed25519 public key. */
  readonly signingPublicKey: Uint8Array
  /** Milliseconds since 1970. */
  readonly nowMs: number
  /** Which nonces were seen in the last five minutes: a `SeenCallNonces`, or anything that can say so. */
  readonly seenNonces: { has(nonce: string, nowMs: number): boolean }
}

/** A signal that passed every check. */
export interface CallSignal {
  readonly type: CallSignalType
  readonly callId: string
  readonly from: string
  /** When the sender made it, by the sender's clock; milliseconds since 1970. */
  readonly sentAtMs: number
  /** 32 hex digits. Remember it, so that the same signal is refused a second time. */
  readonly nonce: string
  /** The signal's own fields, such as `sdp`; whatever their names, of unknown shape. */
  readonly fields: CallSignalFields
}

/**
 * Why a signal was dropped: another `crypto_v`; not decryptable; not of the right form; not signed by the
 * sender; inner and outer fields that differ; too old or too far ahead; seen before.
 */
export type CallSignalRefusal =
  | 'WRONG_VERSION'
  | 'DECRYPTION_FAILED'
  | 'MALFORMED'
  | 'BAD_SIGNATURE'
  | 'MISMATCH'
  | 'STALE'
  | 'REPLAYED'

/** What came of opening a signal. Refusals are values, not errors: the network can cause each of them. */
export type OpenedCallSignal =
  | { readonly ok: true; readonly signal: CallSignal }
  | { readonly ok: false; readonly reason: CallSignalRefusal }

/**
 * The text that is signed: `JSON.stringify` of the inner object without `_sig`, with the sorted list of its
 * own keys as the second argument.
 *
 * That list filters nested objects too: a nested member is in the text only if its name is also one of the
 * top level's. Clients in use sign so, and the text must be theirs to the letter. Nested members outside the
 * signature are still under the session key's authentication, which proves one of the two friends, not which.
 */
export function canonicalCallSignal(inner: CallSignalFields): string {
  const keys = Object.keys(inner).filter((key) => key !== '_sig')
  return JSON.stringify(inner, keys.sort())
}

/** The lower-case hex Ed25519 signature (RFC 8032) of a signal's canonical text. Rejects with `INVALID_KEY`. */
export async function signCallSignal(
  signingPrivateKey: Uint8Array,
  inner: CallSignalFields,
): Promise<string> {
  return bytesToHex(await sign(signingPrivateKey, canonicalCallSignal(inner)))
}

/** Whether the inner object's `_sig` is the holder of `signingPublicKey`'s; false for whatever is malformed. */
export async function verifyCallSignal(
  signingPublicKey: Uint8Array,
  inner: CallSignalFields,
): Promise<boolean> {
  const { _sig: hex } = inner
  if (typeof hex !== 'string') return false
  let text: string
  let signature: Uint8Array
  try {
    text = canonicalCallSignal(inner)
    signature = hexToBytes(hex)
  } catch {
    // Not hex, or an object that JSON cannot write.
    return false
  }
  return verifySignature(signingPublicKey, text, signature)
}

/**
 * The frame to send: the fields with `type`, `call_id`, `from`, `_ts` and a fresh `_nonce`, signed as `_sig`,
 * encrypted like a message's payload. Rejects with `INVALID_ARGUMENT` (fields that are not JSON, are nested deeper
 * than 32 levels or use a reserved name), `INVALID_KEY`.
 */
export async function sealCallSignal(input: SealCallSignalInput): Promise<CallSignalFrame> {
  const { type, to, from, callId, sessionKey, signingPrivateKey, nowMs, randomBytes } = input
  if (!isCallSignalType(type)) throw new CryptoError('INVALID_ARGUMENT', 'type is not a call signal')
  checkText(to, 'to')
  checkText(from, 'from')
  checkText(callId, 'callId')
  if (!Number.isSafeInteger(nowMs))
    throw new CryptoError('INVALID_ARGUMENT', 'nowMs must be whole milliseconds')

  const inner = {
    ...plainJson(input.fields),
    type,
    call_id: callId,
    from,
    _ts: nowMs,
    _nonce: bytesToHex(takeRandomBytes(randomBytes, NONCE_BYTES)),
  }
  const plaintext = JSON.stringify({ ...inner, _sig: await signCallSignal(signingPrivateKey, inner) })
  const payload = await encryptMessage({ sessionKey, plaintext, randomBytes })
  return { type, to, call_id: callId, from, crypto_v: CALL_SIGNAL_CRYPTO_VERSION, payload }
}

/**
 * Opens a received signal and makes every check of the protocol: version, encryption, form, signature, inner
 * `type`, `from` and `call_id` against the frame's, age, and replay. Changes nothing: after a signal is accepted
 * the caller remembers its nonce, before it looks at another: the same signal may be being opened twice. Rejects
 * with `INVALID_KEY` for a session key or public key that is none; everything else is a refusal.
 */
export async function openCallSignal(input: OpenCallSignalInput): Promise<OpenedCallSignal> {
  const { frame, sessionKey, signingPublicKey, nowMs, seenNonces } = input
  checkKey(signingPublicKey, 'signingPublicKey')
  if (frame.crypto_v !== CALL_SIGNAL_CRYPTO_VERSION) return refuse('WRONG_VERSION')

  let plaintext: string
  try {
    plaintext = await decryptMessage({ sessionKey, payload: frame.payload })
  } catch (error) {
    if (error instanceof CryptoError && error.code === 'DECRYPTION_FAILED') return refuse('DECRYPTION_FAILED')
    throw error
  }

  const inner = parseInner(plaintext)
  if (inner === undefined) return refuse('MALFORMED')
  if (!(await verifyCallSignal(signingPublicKey, inner))) return refuse('BAD_SIGNATURE')
  const signal = readSignal(inner)
  if (signal === undefined) return refuse('MALFORMED')

  if (signal.type !== frame.type || signal.from !== frame.from || signal.callId !== frame.call_id) {
    return refuse('MISMATCH')
  }
  // Written so that a clock that is not a number refuses.
  if (!(Math.abs(nowMs - signal.sentAtMs) <= CALL_SIGNAL_MAX_AGE_MS)) return refuse('STALE')
  if (seenNonces.has(signal.nonce, nowMs)) return refuse('REPLAYED')
  return { ok: true, signal }
}

/** The nonces of signals accepted in the last five minutes. Bounded by what arrives in that time. */
export class SeenCallNonces {
  // Insertion order is time order, so the oldest stand first.
  readonly #seenAt = new Map<string, number>()

  /** Whether `nonce` was added within the five minutes before `nowMs`. */
  has(nonce: string, nowMs: number): boolean {
    const seenAt = this.#seenAt.get(nonce)
    return seenAt !== undefined && nowMs - seenAt <= CALL_NONCE_MEMORY_MS
  }

  /** Remembers the nonce of a signal accepted at `nowMs`, and forgets those too old to matter. */
  add(nonce: string, nowMs: number): void {
    for (const [old, seenAt] of this.#seenAt) {
      if (nowMs - seenAt <= CALL_NONCE_MEMORY_MS) break
      this.#seenAt.delete(old)
    }
    this.#seenAt.delete(nonce)
    this.#seenAt.set(nonce, nowMs)
  }

  /** How many are held. */
  get size(): number {
    return this.#seenAt.size
  }
}

function readSignal(inner: CallSignalFields): CallSignal | undefined {
  const { type, call_id: callId, from, _ts: sentAtMs, _nonce: nonce } = inner
  if (!isCallSignalType(type) || typeof callId !== 'string' || typeof from !== 'string') return undefined
  if (typeof sentAtMs !== 'number' || typeof nonce !== 'string' || !/^[0-9a-f]{32}$/i.test(nonce))
    return undefined
  const fields = Object.fromEntries(Object.entries(inner).filter(([key]) => !RESERVED.has(key)))
  return { type, callId, from, sentAtMs, nonce, fields }
}

/**
 * What the receiver will parse: without what JSON leaves out, so that both sides sign and check the same
 * keys.
 */
function plainJson(fields: CallSignalFields): CallSignalFields {
  let plain: CallSignalFields | undefined
  try {
    plain = parseInner(JSON.stringify(fields))
  } catch {
    // Cycles and bigints: said below, without the engine's words.
  }
  if (plain === undefined || Object.keys(plain).some((key) => RESERVED.has(key))) {
    throw new CryptoError('INVALID_ARGUMENT', 'fields must be JSON and use no reserved name')
  }
  return plain
}

function parseInner(text: string): CallSignalFields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    // Writing deep nesting takes engines time by its square: a friend could stop a phone with one 64 KiB
    // signal.
    return isObject(value) && isShallow(value, MAX_DEPTH) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is CallSignalFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth > 0 && Object.values(value).every((member) => isShallow(member, depth - 1))
}

function isCallSignalType(type: unknown): type is CallSignalType {
  return TYPES.some((known) => known === type)
}

function refuse(reason: CallSignalRefusal): OpenedCallSignal {
  return { ok: false, reason }
}
