// Call media: one key for each sender, track and epoch, a counter for each frame, and a window against
// replay.
import { type Bytes, checkBytes, checkKey, checkText, concatBytes, encodeUtf8 } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import { withSecret } from './primitives.ts'

/** A 32-byte AES-256-GCM key and a 12-byte base IV. */
export const CALL_MEDIA_KEY_BYTES = 44

/** Bytes that encryption adds to a frame: counter (8) and tag (16). */
export const CALL_FRAME_OVERHEAD_BYTES = 24

/** Maximum number of frames per key, which is days of video. Then the sender starts a new epoch. */
export const MAX_CALL_FRAMES_PER_EPOCH = 2 ** 32

/** The number of counters below the highest that a receiver remembers. */
export const CALL_REPLAY_WINDOW = 1024

const KEY_BYTES = 32
const COUNTER_BYTES = 8
const TAG_BYTES = 16
const MAX_COUNTER = 2n ** 64n - 1n

/** What `deriveCallMediaKey` needs. */
export interface CallMediaKeyInput {
  /**
   * 32 bytes: the session key of the two friends' conversation or, in a call under version 3, what
   * `deriveMediaSecret` gives for the sender.
   */
  readonly sessionKey: Uint8Array
  readonly callId: string
  /** The alias of the sender who uses this key. */
  readonly senderAlias: string
  /** The track's media id, from the session description. */
  readonly mid: string
  /** Counts from 1. */
  readonly epoch: number
}

/**
 * The 44 bytes of key material for one sender, track and epoch: HKDF-SHA256 (RFC 5869) of the session key,
 * with the SHA-256 of the call's id as salt. A sender must never use one key with two counters that both
 * start at 0: a sender that lost its counter begins the next epoch. Rejects with `INVALID_KEY`,
 * `INVALID_ARGUMENT`.
 */
export async function deriveCallMediaKey({
  sessionKey,
  callId,
  senderAlias,
  mid,
  epoch,
}: CallMediaKeyInput): Promise<Bytes> {
  checkKey(sessionKey, 'sessionKey')
  checkText(callId, 'callId')
  checkText(senderAlias, 'senderAlias')
  checkText(mid, 'mid')
  // A mid may contain the separator (RFC 8866). Alias and epoch do not, so each info is still unambiguous.
  if (senderAlias.includes('|')) throw new CryptoError('INVALID_ARGUMENT', 'senderAlias is not an alias')
  if (!Number.isSafeInteger(epoch) || epoch < 1)
    throw new CryptoError('INVALID_ARGUMENT', 'epoch must count from 1')
  const info = encodeUtf8(`call-media-v1|${senderAlias}|${mid}|${epoch}`)
  return withSecret(sessionKey, async ({ sha256, hkdfSha256 }, secret) => {
    const salt = await sha256(encodeUtf8(callId))
    return hkdfSha256({ secret, salt, info, length: CALL_MEDIA_KEY_BYTES })
  })
}

/**
 * What `encryptCallFrame` needs: 44 bytes of key material, a counter never used with it before, and the
 * frame.
 */
export interface EncryptCallFrameInput {
  readonly keyMaterial: Uint8Array
  /** 0 to 2^64 - 1. */
  readonly counter: bigint
  readonly plaintext: Uint8Array
}

/** What `decryptCallFrame` needs: 44 bytes of key material and a frame as received. */
export interface DecryptCallFrameInput {
  readonly keyMaterial: Uint8Array
  readonly frame: Uint8Array
}

/**
 * A frame: u64 big-endian counter, then AES-256-GCM ciphertext and tag (NIST SP 800-38D). The IV is the base
 * IV with its first 8 bytes XORed with the counter, little-endian. Prefer `CallFrameSender`, which
 * keeps the counter.
 */
export async function encryptCallFrame(input: EncryptCallFrameInput): Promise<Bytes> {
  const { keyMaterial, counter, plaintext } = input
  checkBytes(keyMaterial, 'keyMaterial', CALL_MEDIA_KEY_BYTES, 'INVALID_KEY')
  checkBytes(plaintext, 'plaintext')
  checkCounter(counter)
  const header = new Uint8Array(COUNTER_BYTES)
  new DataView(header.buffer).setBigUint64(0, counter)
  const sealed = await withSecret(keyMaterial, ({ encryptAesGcm }, secret) =>
    encryptAesGcm({ ...keyAndNonce(secret, counter), data: plaintext }),
  )
  return concatBytes(header, sealed)
}

/**
 * The counter and plaintext of a frame. Rejects with `DECRYPTION_FAILED`. It does not detect
 * replay; prefer `CallFrameReceiver`, which does.
 */
export async function decryptCallFrame({
  keyMaterial,
  frame,
}: DecryptCallFrameInput): Promise<{ counter: bigint; plaintext: Bytes }> {
  checkBytes(keyMaterial, 'keyMaterial', CALL_MEDIA_KEY_BYTES, 'INVALID_KEY')
  const counter = readCounter(frame)
  const data = frame.subarray(COUNTER_BYTES)
  return withSecret(keyMaterial, async ({ decryptAesGcm }, secret) => {
    const plaintext = await decryptAesGcm({ ...keyAndNonce(secret, counter), data }).catch(() => {
      throw failed()
    })
    return { counter, plaintext }
  })
}

/** Encrypts one track's frames under one key, each with its own counter. */
export class CallFrameSender {
  readonly #keyMaterial: Bytes
  #sent = 0

  /** Takes the 44 bytes of a new epoch. The counter starts at 0, so two senders must never share them. */
  constructor(keyMaterial: Uint8Array) {
    checkBytes(keyMaterial, 'keyMaterial', CALL_MEDIA_KEY_BYTES, 'INVALID_KEY')
    this.#keyMaterial = concatBytes(keyMaterial)
  }

  /**
   * The next frame. Rejects with `COUNTER_EXHAUSTED` once this epoch has sent `MAX_CALL_FRAMES_PER_EPOCH`.
   */
  async encrypt(plaintext: Uint8Array): Promise<Bytes> {
    if (this.#sent >= MAX_CALL_FRAMES_PER_EPOCH) {
      throw new CryptoError('COUNTER_EXHAUSTED', 'this epoch has reached its limit; start the next one')
    }
    // Counted before encrypting: a counter may be skipped but never used twice.
    const counter = BigInt(this.#sent)
    this.#sent += 1
    return encryptCallFrame({ keyMaterial: this.#keyMaterial, counter, plaintext })
  }
}

/** Decrypts one track's frames under one key, in any order, each at most once. */
export class CallFrameReceiver {
  readonly #keyMaterial: Bytes
  readonly #window = new ReplayWindow()

  /** Takes the 44 bytes of one sender, track and epoch. */
  constructor(keyMaterial: Uint8Array) {
    checkBytes(keyMaterial, 'keyMaterial', CALL_MEDIA_KEY_BYTES, 'INVALID_KEY')
    this.#keyMaterial = concatBytes(keyMaterial)
  }

  /**
   * The plaintext of a frame. Rejects with `DECRYPTION_FAILED`, or `REPLAYED` for a counter that was seen or
   * is too old.
   */
  async decrypt(frame: Uint8Array): Promise<Bytes> {
    this.#checkFresh(readCounter(frame))
    const { counter, plaintext } = await decryptCallFrame({ keyMaterial: this.#keyMaterial, frame })
    // Checked again: the same frame may have been decrypted meanwhile.
    this.#checkFresh(counter)
    // Added only after decryption: a forged frame must not move the window.
    this.#window.add(counter)
    return plaintext
  }

  #checkFresh(counter: bigint): void {
    if (!this.#window.isFresh(counter))
      throw new CryptoError('REPLAYED', 'this call frame was seen before or is too old')
  }
}

/** Which counters were seen: the highest and those up to 1,023 below it (after RFC 4303, section 3.4.3). */
export class ReplayWindow {
  #highest = -1n
  /** Bit i: whether the counter i below the highest was seen. */
  #seen = 0n

  /** Whether `counter` was not seen before and is within the window. */
  isFresh(counter: bigint): boolean {
    if (counter > this.#highest) return true
    const below = this.#highest - counter
    return below < CALL_REPLAY_WINDOW && ((this.#seen >> below) & 1n) === 0n
  }

  /** Marks an authentic frame's counter as seen. */
  add(counter: bigint): void {
    if (counter > this.#highest) {
      const ahead = counter - this.#highest
      // A jump past the whole window forgets it; shifting by that much would ask for the memory.
      this.#seen =
        ahead >= CALL_REPLAY_WINDOW ? 1n : BigInt.asUintN(CALL_REPLAY_WINDOW, (this.#seen << ahead) | 1n)
      this.#highest = counter
      return
    }
    const below = this.#highest - counter
    if (below < CALL_REPLAY_WINDOW) this.#seen |= 1n << below
  }
}

function keyAndNonce(keyMaterial: Uint8Array, counter: bigint): { key: Uint8Array; nonce: Uint8Array } {
  // A copy: the XOR below must not change the key material, which other frames use too.
  const nonce = new Uint8Array(keyMaterial.subarray(KEY_BYTES))
  const view = new DataView(nonce.buffer)
  view.setBigUint64(0, view.getBigUint64(0, true) ^ counter, true)
  return { key: keyMaterial.subarray(0, KEY_BYTES), nonce }
}

function readCounter(frame: Uint8Array): bigint {
  checkBytes(frame, 'frame')
  if (frame.length < COUNTER_BYTES + TAG_BYTES) throw failed()
  return new DataView(frame.buffer, frame.byteOffset, COUNTER_BYTES).getBigUint64(0)
}

function checkCounter(counter: bigint): void {
  if (typeof counter !== 'bigint' || counter < 0n || counter > MAX_COUNTER) {
    throw new CryptoError('INVALID_ARGUMENT', 'counter must be a bigint from 0 to 2^64 - 1')
  }
}

function failed(): CryptoError {
  return new CryptoError('DECRYPTION_FAILED', 'the call frame could not be decrypted')
}
