// The two accounts of the model. Their phrases are of the test vectors of BIP-39.
import { deriveIdentityKeys } from '@sotto/crypto'
import type { Account } from './store.ts'

const PHRASES = {
  a: `${'abandon '.repeat(11)}about`,
  b: 'legal winner thank year wave sausage worth useful legal winner thank yellow',
}

export async function accountsOfTheModel(): Promise<readonly [Account, Account]> {
  return [
    { name: 'a', keys: await deriveIdentityKeys(PHRASES.a) },
    { name: 'b', keys: await deriveIdentityKeys(PHRASES.b) },
  ]
}
