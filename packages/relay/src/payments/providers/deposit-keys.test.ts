// Deposit addresses are the ones that a wallet with the same phrase shows, and private keys are refused.

import { expect, test } from 'bun:test'
import { mnemonicToAccount } from 'viem/accounts'
import { PHRASE, XPUB } from '../../../test/chain-shop.ts'
import { SettingError } from '../../operations/setting-error.ts'
import { DepositAddresses } from './deposit-keys.ts'

const hdKey = mnemonicToAccount(PHRASE, { path: "m/44'/60'/0'" }).getHdKey()

function messageFor(key: string): string {
  try {
    new DepositAddresses('EVM_XPUB', key)
  } catch (error) {
    if (error instanceof SettingError) return error.message
    throw error
  }
  return 'it was accepted'
}

test('the address of an index is the one that a wallet derives for it', () => {
  const addresses = new DepositAddresses('EVM_XPUB', XPUB)
  for (const index of [0, 1, 2, 19, 1000, 2 ** 31 - 1]) {
    const wallet = mnemonicToAccount(PHRASE, { path: `m/44'/60'/0'/0/${index}` })
    expect(addresses.at(index)).toBe(wallet.address)
  }
  expect(addresses.at(0)).not.toBe(addresses.at(1))
})

test('the address of a well-known phrase is the published one', () => {
  const phrase = 'test test test test test test test test test test test junk'
  const key = mnemonicToAccount(phrase, { path: "m/44'/60'/0'" }).getHdKey().publicExtendedKey
  expect(new DepositAddresses('EVM_XPUB', key).at(0)).toBe('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')
})

test('refuses a private key, and does not quote it', () => {
  const privateKey = hdKey.privateExtendedKey
  expect(messageFor(privateKey)).toContain('private')
  const others = [privateKey, ` ${privateKey}`, `${privateKey}x`, privateKey.replace('xprv', 'tprv'), PHRASE]
  for (const key of [...others, `0x${'ab'.repeat(32)}`]) {
    const message = messageFor(key)
    expect(message).not.toBe('it was accepted')
    for (let at = 0; at + 8 <= key.length; at += 4) expect(message).not.toContain(key.slice(at, at + 8))
  }
})

test('refuses text that is not an extended key', () => {
  const typo = XPUB.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))
  for (const key of [
    '',
    'xpub',
    typo,
    XPUB.slice(0, -1),
    'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAc',
  ]) {
    expect(messageFor(key)).toBe('EVM_XPUB must be an extended public key, which begins with xpub')
  }
})
