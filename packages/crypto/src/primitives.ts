// The cryptographic primitives of every construction: selects one of the two implementations.
import { type Bytes, concatBytes } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import type { Primitives } from './primitives-interface.ts'
import { webPrimitives } from './web-primitives.ts'

export type { Primitives }

let loading: Promise<Primitives> | undefined

/**
 * Selects the primitives and loads them if they are in a separate script. After this call, no construction
 * can fail because the script is missing. Rejects with `UNAVAILABLE`; the next call tries again.
 */
export async function loadPrimitives(): Promise<Primitives['implementation']> {
  return (await primitives()).implementation
}

/**
 * Runs `work` with the primitives and a copy of a secret. The copy is made before the first await. So a
 * caller that overwrites the secret right after the call, as locking does, never causes the use of a zero
 * key.
 */
export async function withSecret<T>(
  secret: Uint8Array,
  work: (primitives: Primitives, secret: Bytes) => Promise<T>,
): Promise<T> {
  const copy = concatBytes(secret)
  try {
    return await work(await primitives(), copy)
  } finally {
    copy.fill(0)
  }
}

/** The primitives of this runtime. */
export function primitives(): Promise<Primitives> {
  loading ??= choosePrimitives(globalThis.crypto?.subtle, isBrowser()).catch(() => {
    loading = undefined
    throw new CryptoError('UNAVAILABLE', 'the cryptography this runtime lacks could not be loaded')
  })
  return loading
}

/**
 * WebCrypto's primitives if `subtle` has all of them, otherwise noble's, from a separate script.
 * @param subtle undefined outside secure contexts, whatever its type says
 * @param mayHaveCurves whether to look if WebCrypto has both curves
 */
export async function choosePrimitives(
  subtle: SubtleCrypto | undefined,
  mayHaveCurves = true,
): Promise<Primitives> {
  const web = subtle && webPrimitives(subtle)
  if (web && mayHaveCurves && (await isComplete(web))) return web
  const { noblePrimitivesWith } = await import('./noble-primitives.ts')
  return noblePrimitivesWith(web)
}

// Only Ed25519 and X25519 may be missing: they came to WebCrypto late, Ed25519 to Chromium last. WebKitGTK
// refuses private keys that begin with a zero, as one of 256 does.
async function isComplete(web: Primitives): Promise<boolean> {
  const privateKey = new Uint8Array(32)
  try {
    const keys = await Promise.all([web.ed25519PublicKey(privateKey), web.x25519PublicKey(privateKey)])
    return keys.every((key) => key.length === 32)
  } catch {
    return false
  }
}

/** Node 20 prints a warning for the curves of WebCrypto, and scripts there need not be small. */
function isBrowser(): boolean {
  return typeof process !== 'object' || !process.versions?.node
}
