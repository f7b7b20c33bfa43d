// Call signals (crypto_v 2): signing, sealing, and the receiver's checks.
import { checkKey, checkText, type RandomBytes, takeRandomBytes } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import { bytesToHex, hexToBytes } from './hex.ts'
import { decryptMessage, encryptMessage } from './message-envelope.ts'
import {
  type CallSignalFields,
  type CallSignalType,
  isCallSignalType,
  ownFields,
  parseFields,
  plainJson,
} from './signal-fields.ts'
import { sign, verifySignature } from './signature.ts'

export type { CallSignalFields, CallSignalType } from './signal-fields.ts'

/** The `crypto_v` of the scheme in this file. */
export const CALL_SIGNAL_CRYPTO_VERSION = 2

/** How far `_ts` may differ from the receiver's clock, in milliseconds. */
export const CALL_SIGNAL_MAX_AGE_MS = 60_000

/**
 * How long a receiver remembers nonces, in milliseconds. Longer than a signal stays fresh, so every
 * replay is noticed.
 */
export const CALL_NONCE_MEMORY_MS = 300_000

const NONCE_BYTES = 16

/** A signal as the relay sees it. */
export interface CallSignalFrame {
  readonly type: CallSignalType
  readonly to: string
  readonly call_id: string
  readonly from: string
  readonly crypto_v: 2
  readonly payload: string
}

/** What `sealCallSignal` needs. */
export interface SealCallSignalInput {
  readonly type: CallSignalType
  /** The receiver's alias. */
  readonly to: string
  /** The sender's alias. */
  readonly from: string
  readonly callId: string
  /**
   * The signal's own fields, such as `sdp` and `sdp_type`. A member of a nested object is signed
   * only if a top-level member has the same name (see `canonicalCallSignal`).
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

/** The frame as received. Its fields are not trusted until the payload confirms them. */
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
  /** The nonces of the last five minutes: a `SeenCallNonces` or anything with this method. */
  readonly seenNonces: { has(nonce: string, nowMs: number): boolean }
}

/** A signal that passed every check. */
export interface CallSignal {
  readonly type: CallSignalType
  readonly callId: string
  readonly from: string
  /** When the sender made the signal, by the sender's clock; milliseconds since 1970. */
  readonly sentAtMs: number
  /** Hex digits: 32, or 24 under version 3. Remember it, so that a repeated signal is refused. */
  readonly nonce: string
  /** The signal's own fields, such as `sdp`. Their names and types are not checked. */
  readonly fields: CallSignalFields
}

/**
 * Why a signal was dropped: it has another `crypto_v`, cannot be decrypted, has the wrong form, is not signed
 * by the sender, has different inner and outer fields, is too old or too far in the future, or was seen
 * before.
 */
export type CallSignalRefusal =
  | 'WRONG_VERSION'
  | 'DECRYPTION_FAILED'
  | 'MALFORMED'
  | 'BAD_SIGNATURE'
  | 'MISMATCH'
  | 'STALE'
  | 'REPLAYED'

/**
 * The result of opening a signal. Refusals are values, not errors, because the network can cause each of
 * them.
 */
export type OpenedCallSignal =
  | { readonly ok: true; readonly signal: CallSignal }
  | { readonly ok: false; readonly reason: CallSignalRefusal }

/**
 * The text that is signed: `JSON.stringify` of the inner object without `_sig`, with the sorted list of its
 * keys as the second argument.
 *
 * That list also filters nested objects: a nested member is in the text only if a top-level member has the
 * same name. Published clients sign this way, and the text must be identical. The session key still
 * authenticates nested members outside the signature. This proves that one of the two friends wrote them, but
 * not which one.
 */
export function canonicalCallSignal(inner: CallSignalFields): string {
  const keys = Object.keys(inner).filter((key) => key !== '_sig')
  return JSON.stringify(inner, keys.sort())
}

/**
 * The lower-case hex Ed25519 signature (RFC 8032) of a signal's canonical text. Rejects with `INVALID_KEY`.
 */
export async function signCallSignal(
  signingPrivateKey: Uint8Array,
  inner: CallSignalFields,
): Promise<string> {
  return bytesToHex(await sign(signingPrivateKey, canonicalCallSignal(inner)))
}

/** Whether the inner object's `_sig` is valid for `signingPublicKey`; false for any malformed input. */
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
    // Not hex, or an object that JSON cannot represent.
    return false
  }
  return verifySignature(signingPublicKey, text, signature)
}

/**
 * The frame to send: the fields with `type`, `call_id`, `from`, `_ts` and a new `_nonce`, signed as `_sig`
 * and encrypted like a message's payload. Rejects with `INVALID_ARGUMENT` (fields that are not JSON, are
 * nested deeper than 32 levels or use a reserved name), `INVALID_KEY`.
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
 * `type`, `from` and `call_id` against the frame's, age, and replay. It changes no state. The caller must
 * remember the nonce of an accepted signal before it checks another one, because the same signal may be
 * opened twice at once. Rejects with `INVALID_KEY` for an invalid session key or public key; everything else
 * is a refusal.
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

  const inner = parseFields(plaintext)
  if (inner === undefined) return refuse('MALFORMED')
  if (!(await verifyCallSignal(signingPublicKey, inner))) return refuse('BAD_SIGNATURE')
  const signal = readSignal(inner)
  if (signal === undefined) return refuse('MALFORMED')

  if (signal.type !== frame.type || signal.from !== frame.from || signal.callId !== frame.call_id) {
    return refuse('MISMATCH')
  }
  // Negated so that NaN is refused too.
  if (!(Math.abs(nowMs - signal.sentAtMs) <= CALL_SIGNAL_MAX_AGE_MS)) return refuse('STALE')
  if (seenNonces.has(signal.nonce, nowMs)) return refuse('REPLAYED')
  return { ok: true, signal }
}

/**
 * The nonces of signals accepted in the last five minutes. Their number is bounded by the arrivals in that
 * time.
 */
export class SeenCallNonces {
  // Insertion order is time order, so the oldest come first.
  readonly #seenAt = new Map<string, number>()

  /** Whether `nonce` was added within the five minutes before `nowMs`. */
  has(nonce: string, nowMs: number): boolean {
    const seenAt = this.#seenAt.get(nonce)
    return seenAt !== undefined && nowMs - seenAt <= CALL_NONCE_MEMORY_MS
  }

  /** Remembers the nonce of a signal accepted at `nowMs`, and forgets expired nonces. */
  add(nonce: string, nowMs: number): void {
    for (const [old, seenAt] of this.#seenAt) {
      if (nowMs - seenAt <= CALL_NONCE_MEMORY_MS) break
      this.#seenAt.delete(old)
    }
    this.#seenAt.delete(nonce)
    this.#seenAt.set(nonce, nowMs)
  }

  /** The number of remembered nonces. */
  get size(): number {
    return this.#seenAt.size
  }
}

function readSignal(inner: CallSignalFields): CallSignal | undefined {
  const { type, call_id: callId, from, _ts: sentAtMs, _nonce: nonce } = inner
  if (!isCallSignalType(type) || typeof callId !== 'string' || typeof from !== 'string') return undefined
  if (typeof sentAtMs !== 'number' || typeof nonce !== 'string' || !/^[0-9a-f]{32}$/i.test(nonce))
    return undefined
  return { type, callId, from, sentAtMs, nonce, fields: ownFields(inner) }
}

function refuse(reason: CallSignalRefusal): OpenedCallSignal {
  return { ok: false, reason }
}
