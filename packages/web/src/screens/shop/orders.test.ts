// How long orders are held, and which payment pages are opened.
import { expect, test } from 'bun:test'
import { pageOf, remainingMs } from './orders.ts'

const order = { created_at: '2026-11-23T12:00:00.000Z', expired_at: '2026-11-23T12:15:00.000Z' }
const created = Date.parse(order.created_at)
const MINUTE = 60_000

test('the time of an order ends when the relay says', () => {
  expect(remainingMs(order, created + 5 * MINUTE, [order])).toBe(10 * MINUTE)
  expect(remainingMs(order, created + 20 * MINUTE, [order])).toBe(0)
})

test('a clock that is behind is corrected by what the relay dated last', () => {
  expect(remainingMs(order, created - 60 * MINUTE, [order])).toBe(15 * MINUTE)
  const later = { created_at: '2026-11-23T12:10:00.000Z' }
  expect(remainingMs(order, created - 60 * MINUTE, [later, order])).toBe(5 * MINUTE)
})

test('only pages of the web are opened', () => {
  expect(pageOf({ payment_url: 'https://relay.example/pay/1' })).toBe('https://relay.example/pay/1')
  for (const payment_url of ['', 'javascript:alert(1)', 'data:text/html,x', '/pay/1'])
    expect(pageOf({ payment_url })).toBeUndefined()
})
