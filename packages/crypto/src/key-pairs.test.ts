import { expect, test } from 'bun:test'
import { expectCode, vectors } from '../test/expectations.ts'
import { encodeBase64 } from './base64.ts'
import { bytesToHex } from './hex.ts'
import { deriveAgreementKeyPair, deriveIdentityKeys, deriveSigningKeyPair } from './key-pairs.ts'
import { mnemonicToSeed } from './mnemonic.ts'

for (const [index, identity] of vectors.identities.entries()) {
  test(`identity ${index}: both key pairs are derived from the phrase`, async () => {
    const { signing, agreement } = await deriveIdentityKeys(identity.mnemonic)
    expect(bytesToHex(signing.privateKey)).toBe(identity.ed25519_private_hex)
    expect(encodeBase64(signing.publicKey)).toBe(identity.ed25519_public_b64)
    expect(bytesToHex(agreement.privateKey)).toBe(identity.x25519_private_hex)
    expect(encodeBase64(agreement.publicKey)).toBe(identity.x25519_public_b64)

    const seed = await mnemonicToSeed(identity.mnemonic)
    expect(await deriveSigningKeyPair(seed)).toEqual(signing)
    expect(await deriveAgreementKeyPair(seed)).toEqual(agreement)
  })
}

for (const [index, identity] of vectors.identities.entries()) {
  test(`identity ${index}: the X25519 pair of an older client is at index 1`, async () => {
    const { signing, agreement } = await deriveIdentityKeys(identity.mnemonic, 1)
    expect(bytesToHex(signing.privateKey)).toBe(identity.ed25519_private_hex)
    expect(bytesToHex(agreement.privateKey)).toBe(identity.x25519_index_1_private_hex)
    expect(encodeBase64(agreement.publicKey)).toBe(identity.x25519_index_1_public_b64)
    expect(await deriveAgreementKeyPair(await mnemonicToSeed(identity.mnemonic), 1)).toEqual(agreement)
  })
}

test('an invalid phrase gives no keys', async () => {
  await expectCode('INVALID_PHRASE', () => deriveIdentityKeys('not a phrase'))
})
