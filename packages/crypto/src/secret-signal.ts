// Calls under crypto_v 3: the keys that come from the group's exporter, and the sealing of signals. A signal
// advances no ratchet, so a lost one costs nothing.
import { type AccountKeys, writeAccountKeys } from './account-keys.ts'
import { ByteReader, ByteWriter } from './byte-record.ts'
import {
  type Bytes,
  checkBytes,
  checkKey,
  checkText,
  concatBytes,
  encodeUtf8,
  type RandomBytes,
  takeRandomBytes,
} from './bytes.ts'
import { CALL_SIGNAL_MAX_AGE_MS, type CallSignal, type CallSignalRefusal } from './call-signal.ts'
import { CryptoError } from './crypto-error.ts'
import { bytesToHex } from './hex.ts'
import { pad, unpad } from './padding.ts'
import { withSecret } from './primitives.ts'
import {
  type CallSignalFields,
  type CallSignalType,
  isCallSignalType,
  parseFields,
  plainJson,
} from './signal-fields.ts'

/** The label of the group's exporter for `epochSecret`. Its context is empty. */
export const CALL_EXPORTER_LABEL = 'sotto-call-secret-v1'
/** The length of `epochSecret`. */
export const CALL_SECRET_BYTES = 32

const SIGNAL_KEY_LABEL = 'sotto-call-signal-key-v1'
const MEDIA_LABEL = 'sotto-call-media-v1'
const LABEL = 'sotto-call-signal-v1'
const FORMAT = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32

const SIGNALS = { call_offer: 1, call_answer: 2, call_reject: 3, call_ice: 4, call_hangup: 5 } as const

/** Whose keys of a call these are, and of which epoch. */
export interface CallKeyPlace {
  /** 32 bytes: what the group of the epoch exports under `CALL_EXPORTER_LABEL` with an empty context. */
  readonly epochSecret: Uint8Array
  readonly conversationId: string
  readonly callId: string
  /** The relay's epoch of the conversation. */
  readonly epoch: number
  readonly sender: AccountKeys
}

/** What `sealSecretSignal` needs besides the place of its key. */
export interface SealSecretSignalInput extends CallKeyPlace {
  readonly type: CallSignalType
  /** The sender's alias in this call, as in the frame. */
  readonly from: string
  /** The epoch that the keys of the call's media are of: the same in all signals of a call. */
  readonly callEpoch: number
  readonly fields: CallSignalFields
  /** Milliseconds since 1970. */
  readonly nowMs: number
  readonly randomBytes: RandomBytes
}

/** What `openSecretSignal` needs. `epoch` is what `epochOfSignal` read. */
export interface OpenSecretSignalInput extends Omit<CallKeyPlace, 'callId' | 'epoch'> {
  /** The frame as received. */
  readonly frame: { readonly type: string; readonly call_id: string; readonly from: string }
  /** The frame's payload. */
  readonly sealed: Uint8Array
  /** Milliseconds since 1970. */
  readonly nowMs: number
  /** The nonces of the last five minutes: a `SeenCallNonces`. */
  readonly seenNonces: { has(nonce: string, nowMs: number): boolean }
}

/** A signal of version 3 that passed every check. */
export interface SecretSignal extends CallSignal {
  /** See `SealSecretSignalInput`. */
  readonly callEpoch: number
}

/** The result of opening a signal. Refusals are values, because the network can cause each of them. */
export type OpenedSecretSignal =
  | { readonly ok: true; readonly signal: SecretSignal }
  | { readonly ok: false; readonly reason: CallSignalRefusal }

/**
 * The 32 bytes that one sender's media keys of a call are derived from: the `sessionKey` of
 * `deriveCallMediaKey`. HKDF-SHA256 (RFC 5869) of the epoch's secret (RFC 9420, section 8.5). Rejects with
 * `INVALID_KEY`, `INVALID_ARGUMENT`.
 */
export function deriveMediaSecret(place: CallKeyPlace): Promise<Bytes> {
  return deriveKey(MEDIA_LABEL, place)
}

/**
 * A signal's payload: format and epoch, a random nonce of 12 bytes, ciphertext and tag (16 bytes). It is
 * AES-256-GCM (NIST SP 800-38D) under a key of the sender, the call and the epoch. With random nonces a key
 * may seal 2^32 times (section 8.3); a call has some hundred signals. Nothing is counted, so a device that
 * starts again or loses a signal uses no nonce twice. Rejects with `INVALID_ARGUMENT`, `INVALID_KEY`.
 */
export async function sealSecretSignal(input: SealSecretSignalInput): Promise<Bytes> {
  const { epoch, callEpoch, fields, nowMs, randomBytes } = input
  const key = await deriveKey(SIGNAL_KEY_LABEL, input)
  const additionalData = encodePlace(input)
  const text = JSON.stringify(plainJson(fields))
  const data = pad(new ByteWriter().u64(nowMs).number(callEpoch).text(text).done())
  const nonce = takeRandomBytes(randomBytes, NONCE_BYTES)
  const header = new ByteWriter().number(FORMAT).number(epoch).done()
  const sealed = await withSecret(key, ({ encryptAesGcm }, copy) =>
    encryptAesGcm({ key: copy, nonce, data, additionalData }),
  )
  key.fill(0)
  return concatBytes(header, nonce, sealed)
}

/** The epoch that a payload names; undefined if it has another format. Nothing has verified it. */
export function epochOfSignal(sealed: Uint8Array): number | undefined {
  return readHeader(sealed)?.epoch
}

/**
 * Opens a received signal and makes every check: sender, conversation, call, type and alias (all of them are
 * authenticated), form, age, and replay. It changes no state: the caller must remember the nonce of an
 * accepted signal before it checks another one. Rejects with `INVALID_KEY`, `INVALID_ARGUMENT` for what the
 * caller chose; everything else is a refusal.
 */
export async function openSecretSignal(input: OpenSecretSignalInput): Promise<OpenedSecretSignal> {
  const { frame, sealed, nowMs, seenNonces } = input
  const { type, from } = frame
  const header = readHeader(sealed)
  if (!header || !isCallSignalType(type)) return refuse('MALFORMED')
  const place = { ...input, type, from, callId: frame.call_id, epoch: header.epoch }
  const key = await deriveKey(SIGNAL_KEY_LABEL, place)
  const additionalData = encodePlace(place)
  const { nonce, data } = header
  const plaintext = await withSecret(key, async ({ decryptAesGcm }, copy) => {
    try {
      return await decryptAesGcm({ key: copy, nonce, data, additionalData })
    } catch {
      return undefined
    }
  })
  key.fill(0)
  if (!plaintext) return refuse('DECRYPTION_FAILED')
  const said = readPlaintext(plaintext)
  if (!said) return refuse('MALFORMED')
  if (Math.abs(nowMs - said.sentAtMs) > CALL_SIGNAL_MAX_AGE_MS) return refuse('STALE')
  const signal = { type, callId: frame.call_id, from, nonce: bytesToHex(nonce), ...said }
  if (seenNonces.has(signal.nonce, nowMs)) return refuse('REPLAYED')
  return { ok: true, signal }
}

async function deriveKey(
  label: string,
  { epochSecret, conversationId, callId, epoch, sender }: CallKeyPlace,
): Promise<Bytes> {
  checkKey(epochSecret, 'epochSecret')
  checkText(conversationId, 'conversationId')
  checkText(callId, 'callId')
  const writer = new ByteWriter().text(label).text(conversationId).u64(epoch)
  writeAccountKeys(writer, sender, 'the sender')
  const info = writer.done()
  return withSecret(epochSecret, async ({ sha256, hkdfSha256 }, secret) => {
    const salt = await sha256(encodeUtf8(callId))
    return hkdfSha256({ secret, salt, info, length: KEY_BYTES })
  })
}

/** The additional data. The version is in the label; every part has a fixed length or its length in front. */
function encodePlace({
  conversationId,
  callId,
  epoch,
  sender,
  type,
  from,
}: Omit<CallKeyPlace, 'epochSecret'> & { readonly type: CallSignalType; readonly from: string }): Bytes {
  checkText(from, 'from')
  if (!Object.hasOwn(SIGNALS, type)) throw new CryptoError('INVALID_ARGUMENT', 'type is not a call signal')
  const writer = new ByteWriter().text(LABEL).text(conversationId).text(callId).number(SIGNALS[type])
  writeAccountKeys(writer.u64(epoch).text(from), sender, 'the sender')
  return writer.done()
}

function readHeader(
  sealed: Uint8Array,
): { readonly epoch: number; readonly nonce: Bytes; readonly data: Bytes } | undefined {
  checkBytes(sealed, 'sealed')
  return orUndefined(() => {
    const reader = new ByteReader(sealed)
    if (reader.number() !== FORMAT) return undefined
    const epoch = reader.number()
    const nonce = reader.fixed(NONCE_BYTES)
    const data = reader.rest()
    return data.length < TAG_BYTES ? undefined : { epoch, nonce, data }
  })
}

function readPlaintext(
  plaintext: Uint8Array,
): Pick<SecretSignal, 'sentAtMs' | 'callEpoch' | 'fields'> | undefined {
  return orUndefined(() => {
    const reader = new ByteReader(unpad(plaintext))
    const sentAtMs = reader.u64()
    const callEpoch = reader.number()
    const fields = parseFields(reader.text())
    reader.end()
    return fields && { sentAtMs, callEpoch, fields }
  })
}

function orUndefined<T>(read: () => T | undefined): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof CryptoError && error.code === 'INVALID_ENCODING') return undefined
    throw error
  }
}

function refuse(reason: CallSignalRefusal): OpenedSecretSignal {
  return { ok: false, reason }
}
