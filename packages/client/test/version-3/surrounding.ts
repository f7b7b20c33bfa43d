// What a device of the model meets: its account, the relay, time and randomness, and cryptography that may be
// missing.
import { CryptoError } from '@sotto/crypto'
import { deriveOuterKey } from '@sotto/crypto/version-3'
import type { BlockSizes, Sides, Surroundings } from '../../src/secrecy/version-3/version-3.ts'
import { type Account, type Beginning, publicKeysOf, RELAY, type Store } from './store.ts'
import type { Watch } from './watch.ts'

const CONVERSATION = 'conversation'

/** What a device meets. */
export interface Surrounding extends Beginning {
  readonly peer: Account
  readonly watch: Watch
  readonly blockSizes?: BlockSizes
}

/** Surroundings that throw at a look at them, as if cryptography could not be loaded. */
export function failing(around: Surroundings, looks: number): Surroundings {
  let left = looks
  return new Proxy(around, {
    get(target, name, receiver) {
      left -= 1
      if (left < 0 && name !== 'now') throw new CryptoError('UNAVAILABLE', 'no cryptography')
      return Reflect.get(target, name, receiver)
    },
  })
}

/** The two sides of the conversation, with the leaf of a store. */
export async function sidesOf({ own, peer }: Surrounding, { device, leaf }: Store): Promise<Sides> {
  const outerKey = await deriveOuterKey({
    privateKey: own.keys.agreement.privateKey,
    theirPublicKey: publicKeysOf(peer).x25519,
    conversationId: CONVERSATION,
  })
  return {
    ...{ conversationId: CONVERSATION, relay: RELAY, device, leaf, outerKey },
    ...{ own: publicKeysOf(own), peer: publicKeysOf(peer) },
  }
}
