// A fresh address for every order, from an extended public key: the relay holds no key that can spend.

import { secp256k1 } from '@noble/curves/secp256k1.js'
import { HDKey } from '@scure/bip32'
import type { Address } from 'viem'
import { bytesToHex, publicKeyToAddress } from 'viem/utils'
import { SettingError } from '../../operations/setting-error.ts'

/** The addresses below one extended public key (BIP-32): the one of index `i` is at `0/i`, where wallets have theirs. */
export class DepositAddresses {
  readonly #receiving: HDKey

  /**
   * @param setting what `key` was given in
   * @throws SettingError where `key` is private, or no such key at all; what it is, is not said
   */
  constructor(setting: string, key: string) {
    this.#receiving = publicKeyOf(setting, key).deriveChild(0)
  }

  /** The address of an index from 0 to 2^31 - 1, in EIP-55's spelling. TRON spells the same 20 bytes in its own way. */
  at(index: number): Address {
    const { publicKey } = this.#receiving.deriveChild(index)
    if (!publicKey) throw new Error('a child of a public key has none')
    // An address is made of both of a point's coordinates; what BIP-32 gives has only one, and would make another address.
    return publicKeyToAddress(bytesToHex(secp256k1.Point.fromBytes(publicKey).toBytes(false)))
  }
}

function publicKeyOf(setting: string, text: string): HDKey {
  // A key that can spend must not be looked at any closer: what a library says of it could end in a log.
  if (/^.?prv/i.test(text)) {
    const rule = 'an extended public key (xpub…); what is there is private, and no relay may hold it'
    throw new SettingError(setting, rule)
  }
  try {
    return HDKey.fromExtendedKey(text)
  } catch {
    throw new SettingError(setting, 'an extended public key, which begins with xpub')
  }
}
