// The keyring of secret states: the key of each, by its name, sealed under the erasure key.
import {
  CryptoError,
  decodeBase64,
  encodeBase64,
  openValue,
  type RandomBytes,
  sealValue,
} from '@sotto/crypto'
import * as v from 'valibot'
import type { Erasure, SlotIndex } from './erasure-slots.ts'

/** The length of every key. */
export const KEY_BYTES = 32

/** The sealed keyring, as it is stored. */
const SealedKeyring = v.object({
  /** Where the slots are that have its erasure key. */
  erasure: v.picklist(['file', 'opfs', 'rows', 'memory']),
  /** One more with each erasure key. It says which slot has the key. */
  generation: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  /** Base64 of nonce, ciphertext and tag. */
  sealed: v.string(),
})
/** See {@link SealedKeyring}. */
export type SealedKeyring = v.InferOutput<typeof SealedKeyring>

const Entries = v.array(v.tuple([v.string(), v.string()]))

/** What binds a keyring to its place. */
interface Place {
  readonly erasure: Erasure
  readonly generation: number
}

/** The slot with the erasure key of a generation. */
export function slotOf(generation: number): SlotIndex {
  return generation % 2 === 0 ? 0 : 1
}

/** Seals a keyring as the value of its record. */
export async function sealKeyring(
  key: Uint8Array,
  { erasure, generation }: Place,
  keys: ReadonlyMap<string, Uint8Array>,
  randomBytes: RandomBytes,
): Promise<string> {
  const entries = Array.from(keys, ([name, value]) => [name, encodeBase64(value)])
  const secret = new TextEncoder().encode(JSON.stringify(entries))
  const context = contextOf({ erasure, generation })
  const sealed = await sealValue({ key, secret, context, randomBytes })
  secret.fill(0)
  return JSON.stringify({ erasure, generation, sealed } satisfies SealedKeyring)
}

/** Reads the value of a keyring's record; undefined if it is none. */
export function readKeyring(value: string): SealedKeyring | undefined {
  try {
    return v.parse(SealedKeyring, JSON.parse(value))
  } catch {
    return undefined
  }
}

/** The keys of a keyring; undefined if this erasure key does not open it. */
export async function openKeys(
  key: Uint8Array,
  { sealed, ...place }: SealedKeyring,
): Promise<Map<string, Uint8Array> | undefined> {
  const secret = await opened(key, sealed, contextOf(place))
  if (!secret) return undefined
  const entries = v.parse(Entries, JSON.parse(new TextDecoder().decode(secret)))
  secret.fill(0)
  return new Map(entries.map(([name, value]) => [name, decodeBase64(value)]))
}

/** Seals a state under its own key. */
export function sealState(
  key: Uint8Array,
  name: string,
  secret: Uint8Array,
  randomBytes: RandomBytes,
): Promise<string> {
  return sealValue({ key, secret, context: contextOfState(name), randomBytes })
}

/** The state; undefined if this key does not open it. */
export function openState(key: Uint8Array, name: string, sealed: string): Promise<Uint8Array | undefined> {
  return opened(key, sealed, contextOfState(name))
}

// A keyring does not open as one of another generation, nor a state as that of another name.
function contextOf({ erasure, generation }: Place): string {
  return JSON.stringify(['sotto keyring 1', erasure, generation])
}

function contextOfState(name: string): string {
  return JSON.stringify(['sotto secret state 1', name])
}

async function opened(key: Uint8Array, sealed: string, context: string): Promise<Uint8Array | undefined> {
  try {
    return await openValue({ key, sealed, context })
  } catch (error) {
    if (error instanceof CryptoError && error.code === 'DECRYPTION_FAILED') return undefined
    throw error
  }
}
