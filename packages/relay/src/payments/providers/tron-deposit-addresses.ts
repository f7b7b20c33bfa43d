// TRON addresses, and those that orders are paid to: derived from a public key alone, so that the relay can spend nothing.
import { createHash } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { createBase58check } from '@scure/base'
import { HDKey } from '@scure/bip32'
import { bytesToHex, hexToBytes, publicKeyToAddress } from 'viem/utils'
import { PaymentSettingError } from '../payment-settings.ts'

const base58check = createBase58check(
  (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest()),
)
const PREFIX = 0x41

/** Deposit addresses below an extended public key, at `0/<index>` (BIP-32). */
export class DepositAddresses {
  readonly #branch: HDKey

  /** @throws PaymentSettingError where it is no extended public key; what it is, is not said */
  constructor(extendedPublicKey: string) {
    this.#branch = publicKeyOf(extendedPublicKey).deriveChild(0)
  }

  /** @param index from 0 to 2^31 - 1 */
  at(index: number): string {
    const { publicKey } = this.#branch.deriveChild(index)
    if (!publicKey) throw new Error('a derived key without a public key')
    const uncompressed = secp256k1.Point.fromBytes(publicKey).toBytes(false)
    return addressOf(hexToBytes(publicKeyToAddress(bytesToHex(uncompressed))))
  }
}

/** The address of 20 bytes as people know it: `T…`. */
export function addressOf(bytes: Uint8Array): string {
  return base58check.encode(Uint8Array.of(PREFIX, ...bytes))
}

export function isAddress(text: string): boolean {
  try {
    const bytes = base58check.decode(text)
    return bytes.length === 21 && bytes[0] === PREFIX
  } catch {
    return false
  }
}

function publicKeyOf(text: string): HDKey {
  let key: HDKey | undefined
  try {
    key = HDKey.fromExtendedKey(text)
  } catch {
    // The library's words could quote the key.
  }
  if (key && !key.privateKey) return key
  throw new PaymentSettingError('TRON_XPUB', 'an extended public key (xpub…), never a private one')
}
