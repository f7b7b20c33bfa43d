// The behaviour that all processors share: settings, the limits of the callback, and how long orders stay
// open.

import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { openLedgerWorld } from '../../../test/ledger-world.ts'
import { eventually, recordingLog } from '../../../test/payment-watch.ts'
import { SettingError } from '../../operations/setting-error.ts'
import type { paymentSettings } from '../payment-settings.ts'
import { WebhookPayments, webhookConfigOf } from './webhook.ts'

type Name = keyof typeof paymentSettings

const good: Partial<Record<Name, string>> = {
  WEBHOOK_PROCESSOR: 'btcpay',
  WEBHOOK_API_URL: 'https://pay.example/',
  WEBHOOK_API_KEY: 'key',
  WEBHOOK_SECRET: 'hush',
  WEBHOOK_STORE: 'store1',
}
const read = (changed: Partial<Record<Name, string>>) =>
  webhookConfigOf((name) => ({ ...good, ...changed })[name] ?? '')

describe('settings', () => {
  test('are used unchanged, and NOWPayments needs no address', () => {
    expect(read({})).toEqual({
      processor: 'btcpay',
      apiUrl: 'https://pay.example',
      apiKey: 'key',
      secret: 'hush',
      store: 'store1',
    })
    const nowpayments = read({ WEBHOOK_PROCESSOR: 'nowpayments', WEBHOOK_API_URL: '', WEBHOOK_STORE: '' })
    expect(nowpayments.apiUrl).toBe('https://api.nowpayments.io')
  })

  const wrong: [Name, string, string][] = [
    ['WEBHOOK_PROCESSOR', 'paypal', 'WEBHOOK_PROCESSOR must be one of nowpayments, btcpay'],
    [
      'WEBHOOK_API_URL',
      '',
      'WEBHOOK_API_URL must be a URL that begins with https://, without a query or a password',
    ],
    ['WEBHOOK_API_URL', 'http://pay.example', 'WEBHOOK_API_URL must be a URL that begins with https://'],
    [
      'WEBHOOK_API_URL',
      'https://me:hush@pay.example',
      'WEBHOOK_API_URL must be a URL that begins with https://',
    ],
    ['WEBHOOK_API_KEY', '', 'WEBHOOK_API_KEY must be the key the processor gave you'],
    ['WEBHOOK_SECRET', '', 'WEBHOOK_SECRET must be the secret'],
    ['WEBHOOK_SECRET', 'a b', 'WEBHOOK_SECRET must be the secret'],
    ['WEBHOOK_STORE', '', 'WEBHOOK_STORE must be the id of the store'],
  ]
  for (const [name, value, message] of wrong) {
    test(`${name}="${value}" is refused by name, without its value`, () => {
      expect(() => read({ [name]: value })).toThrow(SettingError)
      expect(() => read({ [name]: value })).toThrow(message)
      if (value.includes('hush')) expect(() => read({ [name]: value })).not.toThrow('hush')
    })
  }

  test('the provider does not start without the relay’s public address', () => {
    const parts = { clock: { now: () => 0, monotonic: () => 0 }, log: recordingLog().log }
    expect(() => new WebhookPayments(read({}), undefined, parts)).toThrow('PUBLIC_URL must be set')
  })
})

describe('the callback', () => {
  const clock = { now: () => 1_000_000_000, monotonic: () => passed }
  let passed = 0
  const make = () =>
    new WebhookPayments(read({}), new URL('https://relay.example'), { clock, log: recordingLog().log })
  const url = 'https://relay.example/payments/webhook'

  const unsigned = { 'btcpay-sig': `sha256=${'0'.repeat(64)}` }

  test('reads at most 64 KiB, with or without a Content-Length', async () => {
    const body = new Uint8Array(65_537)
    const length = { ...unsigned, 'content-length': '65537' }
    const withLength = new Request(url, { method: 'POST', body, headers: length })
    const withoutLength = new Request(url, {
      method: 'POST',
      body: new Blob([body]).stream(),
      headers: unsigned,
    })
    const allowed = new Request(url, { method: 'POST', body: body.slice(1), headers: unsigned })
    expect((await make().callback.answer(withLength)).status).toBe(413)
    expect((await make().callback.answer(withoutLength)).status).toBe(413)
    expect((await make().callback.answer(allowed)).status).toBe(401)
  })

  test('does not read the body of a request without a signature', async () => {
    for (const headers of [{}, { 'btcpay-sig': 'sha256=' }, { 'btcpay-sig': `${unsigned['btcpay-sig']}0` }]) {
      const request = new Request(url, { method: 'POST', body: '{}', headers })
      expect((await make().callback.answer(request)).status).toBe(401)
      expect(request.bodyUsed).toBe(false)
    }
  })

  test('keeps orders open while a processor may still repeat lost notifications', async () => {
    const provider = make()
    expect(provider.seenUntil(clock.now())).toBe(0)
    const book = await openLedgerWorld(clock)
    await provider.start(book.ledger)
    expect(provider.seenUntil(clock.now())).toBe(0)
    passed = 600_000
    await eventually(() => expect(provider.seenUntil(clock.now())).toBe(clock.now() - 120_000))
    await provider.stop()
    await book.close()
  })

  test('an event that is not about payments is acknowledged', async () => {
    const body = JSON.stringify({ type: 'InvoiceCreated', storeId: 'store1' })
    const signature = `sha256=${createHmac('sha256', 'hush').update(body).digest('hex')}`
    const request = new Request(url, { method: 'POST', body, headers: { 'btcpay-sig': signature } })
    expect((await make().callback.answer(request)).status).toBe(200)
  })
})
