// By hand: buyers are told what the operator wrote, or that nothing can be bought.

import { expect, test } from 'bun:test'
import { anOrderId } from '../../../test/ledger-world.ts'
import { SettingError } from '../../operations/setting-error.ts'
import { ManualPayments, manualConfigOf } from './manual.ts'

const order = { orderId: anOrderId(1), depositIndex: 0, price: 50, expiresAt: 1, title: 'the id ada' }

test('an order is paid where the operator says, in whole units', async () => {
  const provider = new ManualPayments(manualConfigOf(() => 'IBAN DE00 1234'))
  expect(await provider.open(order)).toEqual({
    payTo: 'IBAN DE00 1234',
    asset: 'manual',
    amount: 50_000_000n,
  })
  expect(provider.seenUntil(7)).toBe(7)
})

test('nothing can be bought while the operator has not said where to pay', async () => {
  const provider = new ManualPayments(manualConfigOf(() => ''))
  await expect(provider.open(order)).rejects.toMatchObject({ code: 'PAYMENTS_UNAVAILABLE' })
})

test('where to pay is one short line', () => {
  for (const text of ['a\nb', 'x'.repeat(201)]) {
    expect(() => manualConfigOf(() => text)).toThrow(SettingError)
    expect(() => manualConfigOf(() => text)).toThrow(
      'MANUAL_PAY_TO must be one line of at most 200 characters',
    )
  }
})
