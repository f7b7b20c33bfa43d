// A fresh address for every order, from an extended public key: the relay holds no key that can spend.
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { HDKey } from '@scure/bip32'
import type { Address } from 'viem'
import { bytesToHex, publicKeyToAddress } from 'viem/utils'

/** What was given is no extended public key. Its message never contains what was given. */
export class DepositKeyError extends Error {
  override readonly name = 'DepositKeyError'
}

/** The addresses below one extended public key (BIP-32): the one of index `i` is at `0/i`, where wallets have theirs. */
export class DepositAddresses {
  readonly #receiving: HDKey

  /** @throws DepositKeyError where `key` is private, or no such key at all */
  constructor(key: string) {
    this.#receiving = publicKeyOf(key).deriveChild(0)
  }

  /** The address of an index from 0 to 2^31 - 1, in EIP-55's spelling. */
  at(index: number): Address {
    const { publicKey } = this.#receiving.deriveChild(index)
    if (!publicKey) throw new Error('a child of a public key has none')
    // An address is made of both of a point's coordinates; what BIP-32 gives has only one, and would make another address.
    return publicKeyToAddress(bytesToHex(secp256k1.Point.fromBytes(publicKey).toBytes(false)))
  }
}

function publicKeyOf(text: string): HDKey {
  // A key that can spend must not be looked at any closer: what a library says of it could end in a log.
  if (/^.?prv/i.test(text)) {
    throw new DepositKeyError(
      'an extended public key (xpub…); what is there is private, and no relay may hold it',
    )
  }
  try {
    return HDKey.fromExtendedKey(text)
  } catch {
    throw new DepositKeyError('an extended public key, which begins with xpub')
  }
}
