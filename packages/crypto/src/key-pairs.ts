// The two key pairs of an identity, derived from its recovery phrase.
import type { Bytes } from './bytes.ts'
import { mnemonicToSeed } from './mnemonic.ts'
import { withSecret } from './primitives.ts'
import { deriveEd25519Path } from './slip10.ts'

/** A private key and its public key, 32 bytes each. */
export interface KeyPair {
  readonly privateKey: Bytes
  readonly publicKey: Bytes
}

/** The keys of a phrase: an Ed25519 pair for signatures and an X25519 pair for key agreement. */
export interface IdentityKeys {
  readonly signing: KeyPair
  readonly agreement: KeyPair
}

/** The last index of the path to the X25519 pair: 0, or 1 for accounts that one of the older clients made. */
export type AgreementIndex = 0 | 1

const SIGNING_PATH = [44, 0, 0, 0, 0]
const AGREEMENT_PATH = [44, 1, 0, 0]

/** The Ed25519 pair at `m/44'/0'/0'/0'/0'` of a 64-byte BIP-39 seed (SLIP-0010, RFC 8032). */
export async function deriveSigningKeyPair(seed: Uint8Array): Promise<KeyPair> {
  const { privateKey } = await deriveEd25519Path(seed, SIGNING_PATH)
  const publicKey = await withSecret(privateKey, ({ ed25519PublicKey }, key) => ed25519PublicKey(key))
  return { privateKey, publicKey }
}

/**
 * The X25519 pair at `m/44'/1'/0'/0'/index'` of a 64-byte BIP-39 seed (SLIP-0010, RFC 7748). The node's 32
 * bytes are the scalar unchanged; X25519 clamps them itself.
 */
export async function deriveAgreementKeyPair(seed: Uint8Array, index: AgreementIndex = 0): Promise<KeyPair> {
  const { privateKey } = await deriveEd25519Path(seed, [...AGREEMENT_PATH, index])
  const publicKey = await withSecret(privateKey, ({ x25519PublicKey }, key) => x25519PublicKey(key))
  return { privateKey, publicKey }
}

/** Both pairs of a recovery phrase. Rejects with `INVALID_PHRASE`. */
export async function deriveIdentityKeys(mnemonic: string, index: AgreementIndex = 0): Promise<IdentityKeys> {
  const seed = await mnemonicToSeed(mnemonic)
  try {
    const [signing, agreement] = await Promise.all([
      deriveSigningKeyPair(seed),
      deriveAgreementKeyPair(seed, index),
    ])
    return { signing, agreement }
  } finally {
    seed.fill(0)
  }
}
