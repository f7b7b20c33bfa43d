// Derives a new deposit address for every order from an extended public key, so the relay holds no key that
// can spend.

import { secp256k1 } from '@noble/curves/secp256k1.js'
import { HDKey } from '@scure/bip32'
import type { Address } from 'viem'
import { bytesToHex, publicKeyToAddress } from 'viem/utils'
import { SettingError } from '../../operations/setting-error.ts'

/**
 * The addresses below one extended public key (BIP-32). The address of index `i` is at `0/i`, where wallets
 * expect it.
 */
export class DepositAddresses {
  readonly #receiving: HDKey

  /**
   * @param setting the setting that `key` comes from
   * @throws SettingError if `key` is private or not an extended key; the message does not quote it
   */
  constructor(setting: string, key: string) {
    this.#receiving = publicKeyOf(setting, key).deriveChild(0)
  }

  /**
   * The address of an index from 0 to 2^31 - 1, as EIP-55 text. TRON writes the same 20 bytes in another way.
   */
  at(index: number): Address {
    const { publicKey } = this.#receiving.deriveChild(index)
    if (!publicKey) throw new Error('a derived key has no public key')
    // An address is computed from both coordinates of a point. BIP-32 gives the compressed form, which would
    // lead to another address.
    return publicKeyToAddress(bytesToHex(secp256k1.Point.fromBytes(publicKey).toBytes(false)))
  }
}

function publicKeyOf(setting: string, text: string): HDKey {
  // A private key must not reach a library: its error message could end in a log.
  if (/^.?prv/i.test(text)) {
    const rule = 'an extended public key (xpub…); the given key is private, and no relay may hold it'
    throw new SettingError(setting, rule)
  }
  try {
    return HDKey.fromExtendedKey(text)
  } catch {
    throw new SettingError(setting, 'an extended public key, which begins with xpub')
  }
}
