// Manual payments: buyers see the operator's text. Without this text nothing can be bought.

import { expect, test } from 'bun:test'
import { failureOf } from '../../../../protocol/test/failure-of.ts'
import { anOrderId } from '../../../test/ledger-world.ts'
import { SettingError } from '../../operations/setting-error.ts'
import { ManualPayments, manualConfigOf } from './manual.ts'

const configOf = (payTo: string) => manualConfigOf((name) => (name === 'MANUAL_PAY_TO' ? payTo : ''))
const order = { orderId: anOrderId(1), depositIndex: 0, price: 50, expiresAt: 1, title: 'the id ada' }

test('an order is paid at the place that the operator set, and its amount is its exact price', async () => {
  const provider = new ManualPayments(configOf('IBAN DE00 1234'))
  expect(await provider.open(order)).toEqual({
    payTo: 'IBAN DE00 1234',
    asset: 'manual',
    amount: 50_000_000n,
  })
  expect(provider.seenUntil(7)).toBe(7)
})

test('orders may be held for longer, for a number of hours within its bounds', () => {
  const holdMsOf = (hours: string) => {
    const config = manualConfigOf((name) => (name === 'MANUAL_HOLD_HOURS' ? hours : 'the till'))
    return new ManualPayments(config).holdMs
  }
  expect(['', '1', '72', '720'].map(holdMsOf)).toEqual([undefined, 3_600_000, 259_200_000, 2_592_000_000])
  for (const hours of ['0', '721', '-1', '1.5', '1e2', '72h', ' 72', '0x10', '9999'])
    expect(() => holdMsOf(hours)).toThrow(
      'MANUAL_HOLD_HOURS must be a whole number of hours from 1 to 720, or empty for the time of every order',
    )
})

test('nothing can be bought while the setting is empty', async () => {
  const provider = new ManualPayments(configOf(''))
  expect(await failureOf(provider.open(order))).toMatchObject({ code: 'PAYMENTS_UNAVAILABLE' })
})

test('the place to pay must be one short line', () => {
  for (const text of ['a\nb', 'x'.repeat(201)]) {
    expect(() => configOf(text)).toThrow(SettingError)
    expect(() => configOf(text)).toThrow('MANUAL_PAY_TO must be one line of at most 200 characters')
  }
})
