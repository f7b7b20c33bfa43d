// The two key pairs of an identity, derived from its recovery phrase.
import { ed25519, x25519 } from '@noble/curves/ed25519.js'
import type { Bytes } from './bytes.ts'
import { mnemonicToSeed } from './mnemonic.ts'
import { deriveEd25519Path } from './slip10.ts'

/** A private key and its public key, 32 bytes each. */
export interface KeyPair {
  readonly privateKey: Bytes
  readonly publicKey: Bytes
}

/** What a phrase gives: an Ed25519 pair that signs and an X25519 pair that agrees keys. */
export interface IdentityKeys {
  readonly signing: KeyPair
  readonly agreement: KeyPair
}

const SIGNING_PATH = [44, 0, 0, 0, 0]
const AGREEMENT_PATH = [44, 1, 0, 0, 0]

/** The Ed25519 pair at `m/44'/0'/0'/0'/0'` of a 64-byte BIP-39 seed (SLIP-0010, RFC 8032). */
export function deriveSigningKeyPair(seed: Uint8Array): KeyPair {
  const { privateKey } = deriveEd25519Path(seed, SIGNING_PATH)
  return { privateKey, publicKey: ed25519.getPublicKey(privateKey) }
}

/**
 * The X25519 pair at `m/44'/1'/0'/0'/0'` of a 64-byte BIP-39 seed (SLIP-0010, RFC 7748). The node's 32 bytes
 * are the scalar as they are; X25519 clamps them itself.
 */
export function deriveAgreementKeyPair(seed: Uint8Array): KeyPair {
  const { privateKey } = deriveEd25519Path(seed, AGREEMENT_PATH)
  return { privateKey, publicKey: x25519.getPublicKey(privateKey) }
}

/** Both pairs of a recovery phrase. Throws `INVALID_PHRASE`. */
export function deriveIdentityKeys(mnemonic: string): IdentityKeys {
  const seed = mnemonicToSeed(mnemonic)
  const keys = { signing: deriveSigningKeyPair(seed), agreement: deriveAgreementKeyPair(seed) }
  seed.fill(0)
  return keys
}
