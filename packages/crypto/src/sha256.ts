// SHA-256 that answers at once (FIPS 180-4), for the proof of work, the recovery phrase's checksum and the security code.
// Ours because it is small: what a page loads first holds this and not a library of hashes. Everything else hashes by the
// primitives.
import { type Bytes, checkBytes, concatBytes } from './bytes.ts'

const BLOCK_BYTES = 64
const LENGTH_BYTES = 8

/** SHA-256 of `bytes`. */
export function sha256(bytes: Uint8Array): Bytes {
  return startSha256(bytes)(new Uint8Array(0))
}

/**
 * Hashes `beginning` once and answers what finishes it: called with the rest, it gives the SHA-256 of both in a row. Each
 * call overwrites the digest of the one before: the proof of work makes millions.
 */
export function startSha256(beginning: Uint8Array): (rest: Uint8Array) => Bytes {
  checkBytes(beginning, 'bytes')
  const whole = beginning.length - (beginning.length % BLOCK_BYTES)
  const begun = Int32Array.from(INITIAL)
  for (let at = 0; at < whole; at += BLOCK_BYTES)
    compress(begun, new DataView(copyOf(beginning, at).buffer), 0)
  const left = concatBytes(beginning.subarray(whole))

  const state = new Int32Array(8)
  const digest = new Uint8Array(32)
  const digestView = new DataView(digest.buffer)
  let tail = new Uint8Array(0)
  let view = new DataView(tail.buffer)
  return (rest) => {
    const used = left.length + rest.length
    const padded = Math.ceil((used + 1 + LENGTH_BYTES) / BLOCK_BYTES) * BLOCK_BYTES
    if (tail.length === padded) tail.fill(0, used)
    else {
      tail = new Uint8Array(padded)
      view = new DataView(tail.buffer)
    }
    tail.set(left)
    tail.set(rest, left.length)
    tail[used] = 0x80
    const bits = (whole + used) * 8
    view.setUint32(padded - 8, Math.floor(bits / 2 ** 32))
    view.setUint32(padded - 4, bits)
    state.set(begun)
    for (let at = 0; at < padded; at += BLOCK_BYTES) compress(state, view, at)
    for (let word = 0; word < 8; word += 1) digestView.setInt32(word * 4, state[word] ?? 0)
    return digest
  }
}

function copyOf(bytes: Uint8Array, at: number): Bytes {
  return concatBytes(bytes.subarray(at, at + BLOCK_BYTES))
}

// The first 32 bits of the fractions of the primes' roots: square for the first state, cube for the rounds (FIPS 180-4,
// 4.2.2 and 5.3.3). A double holds 50 bits of each.
const primes = /* @__PURE__ */ firstPrimes(64)
const INITIAL = /* @__PURE__ */ fractions(primes.slice(0, 8), Math.sqrt)
const ROUND = /* @__PURE__ */ fractions(primes, Math.cbrt)

function firstPrimes(count: number): number[] {
  const found: number[] = []
  for (let number = 2; found.length < count; number += 1)
    if (found.every((prime) => number % prime !== 0)) found.push(number)
  return found
}

function fractions(numbers: readonly number[], root: (number: number) => number): Int32Array {
  return Int32Array.from(numbers, (number) => Math.floor((root(number) % 1) * 2 ** 32))
}

const schedule = /* @__PURE__ */ new Int32Array(64)

/** One block (FIPS 180-4, 6.2.2). The names of the variables are the standard's. */
function compress(state: Int32Array, block: DataView, at: number): void {
  const w = schedule
  for (let t = 0; t < 16; t += 1) w[t] = block.getInt32(at + t * 4)
  for (let t = 16; t < 64; t += 1) {
    const w15 = w[t - 15] ?? 0
    const w2 = w[t - 2] ?? 0
    const s0 = rotate(w15, 7) ^ rotate(w15, 18) ^ (w15 >>> 3)
    const s1 = rotate(w2, 17) ^ rotate(w2, 19) ^ (w2 >>> 10)
    w[t] = ((w[t - 16] ?? 0) + s0 + (w[t - 7] ?? 0) + s1) | 0
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let t = 0; t < 64; t += 1) {
    const sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const t1 = (h + sum1 + ((e & f) ^ (~e & g)) + (ROUND[t] ?? 0) + (w[t] ?? 0)) | 0
    const sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const t2 = (sum0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  const sums = [a, b, c, d, e, f, g, h]
  for (let word = 0; word < 8; word += 1) state[word] = ((state[word] ?? 0) + (sums[word] ?? 0)) | 0
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by))
}
