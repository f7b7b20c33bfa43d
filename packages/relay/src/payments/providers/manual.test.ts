// Manual payments: buyers see the operator's text. Without this text nothing can be bought.

import { expect, test } from 'bun:test'
import { failureOf } from '../../../../protocol/test/failure-of.ts'
import { anOrderId } from '../../../test/ledger-world.ts'
import { SettingError } from '../../operations/setting-error.ts'
import { ManualPayments, manualConfigOf } from './manual.ts'

const order = { orderId: anOrderId(1), depositIndex: 0, price: 50, expiresAt: 1, title: 'the id ada' }

test('an order is paid at the place that the operator set, and its amount is its exact price', async () => {
  const provider = new ManualPayments(manualConfigOf(() => 'IBAN DE00 1234'))
  expect(await provider.open(order)).toEqual({
    payTo: 'IBAN DE00 1234',
    asset: 'manual',
    amount: 50_000_000n,
  })
  expect(provider.seenUntil(7)).toBe(7)
})

test('nothing can be bought while the setting is empty', async () => {
  const provider = new ManualPayments(manualConfigOf(() => ''))
  expect(await failureOf(provider.open(order))).toMatchObject({ code: 'PAYMENTS_UNAVAILABLE' })
})

test('the place to pay must be one short line', () => {
  for (const text of ['a\nb', 'x'.repeat(201)]) {
    expect(() => manualConfigOf(() => text)).toThrow(SettingError)
    expect(() => manualConfigOf(() => text)).toThrow(
      'MANUAL_PAY_TO must be one line of at most 200 characters',
    )
  }
})
