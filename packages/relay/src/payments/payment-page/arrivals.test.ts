// What a payment page and a receipt say about what arrived.
import { describe, expect, test } from 'bun:test'
import { arrivalLines } from './arrivals.ts'
import type { Arrival, PaymentView } from './payment-view.ts'
import { receiptOf } from './receipt.ts'
import { pageStateOf } from './state.ts'

const NOW = 1_800_000_000_000
const HASH = `0x${'ab'.repeat(32)}`
const PAID: Arrival = {
  ...{ kind: 'payment', amount: '25.5', symbol: 'USDT', network: 'Ethereum' },
  ...{ reference: HASH, at: NOW, state: 'seen', outcome: null },
}
const OTHER: Arrival = {
  ...PAID,
  ...{ kind: 'other_token', amount: undefined, symbol: '', contract: '0x1234', reference: `${HASH}other` },
}
const VIEW: PaymentView = {
  ...{ state: 'waiting', method: 'evm:1/0xdac1', kind: 'transfer', choices: [] },
  ...{ title: 'the id ada', payTo: '0x5290' },
  ...{ amount: '25.5', symbol: 'USDT', network: 'Ethereum', received: '0', missing: '25.5' },
  ...{ contract: '0xdAC1', arrivals: [], expiresAt: NOW + 900_000 },
}
const lineOf = (arrival: Partial<Arrival>) =>
  arrivalLines({ ...VIEW, arrivals: [{ ...PAID, ...arrival }] })[0]
const detailOf = (arrival: Partial<Arrival>) => lineOf(arrival)?.detail

describe('the payment page', () => {
  test('shows a payment, how far it is, and where to look it up', () => {
    const page = `https://explorer.example/tx/${HASH}`
    expect(lineOf({ confirmations: { have: 3, need: 12 }, page })).toEqual({
      ...{ text: '25.5 USDT on Ethereum', detail: 'Seen, 3 of 12 confirmations.', reference: HASH, page },
    })
    expect(detailOf({})).toBe('Seen. It counts once it is confirmed.')
    expect(detailOf({ state: 'final' })).toBe('Confirmed, and not enough yet.')
    expect(detailOf({ state: 'final', outcome: 'counted' })).toBe('Confirmed.')
    expect(detailOf({ state: 'gone' })).toContain('removed this transaction')
  })

  test('says what is given back, and when it was', () => {
    const over = { state: 'final', outcome: 'counted', refund: { amount: '1', reference: null } } as const
    expect(detailOf(over)).toBe('Confirmed. 1 USDT is recorded: the operator sees it and can give it back.')
    const late = { state: 'final', outcome: 'refund', refund: { amount: '25.5', reference: 'tx 9' } } as const
    expect(detailOf(late)).toBe('25.5 USDT was given back: tx 9.')
  })

  test('says of another token or coin that it does not pay, and what the order still waits for', () => {
    const coin: Arrival = { ...PAID, kind: 'own_coin', amount: '0.5', symbol: '' }
    const chain: Arrival = { ...PAID, kind: 'other_chain', network: '' }
    const state = pageStateOf({ ...VIEW, arrivals: [OTHER, coin, chain] }, NOW)
    expect(state.headline).toBe('Something else arrived')
    expect(state.detail).toContain('still waits for 25.5 USDT on Ethereum')
    expect(state.arrivals.map(({ text }) => text)).toEqual([
      'Another token on Ethereum, contract 0x1234',
      '0.5 of the chain’s own coin on Ethereum',
      'Something on another chain',
    ])
    for (const { detail } of state.arrivals) expect(detail).toStartWith('This does not pay for the order. ')
    const gone = pageStateOf({ ...VIEW, arrivals: [{ ...OTHER, state: 'gone' }] }, NOW)
    expect(gone.headline).toBe('Waiting for your payment')
  })

  test('shows every payment, but only the newest five other things, which anybody can send', () => {
    const many = Array.from({ length: 20 }, (_, n) => ({ ...OTHER, reference: `other ${n}` }))
    const lines = arrivalLines({ ...VIEW, arrivals: [PAID, ...many, PAID] })
    expect(lines.map(({ reference }) => reference)).toEqual([
      ...[HASH, 'other 15', 'other 16', 'other 17', 'other 18', 'other 19', HASH],
    ])
  })
})

describe('the receipt', () => {
  test('says what was bought and paid, where, and by which transactions', () => {
    const arrivals: Arrival[] = [
      { ...PAID, state: 'final', outcome: 'counted', page: `https://explorer.example/tx/${HASH}` },
      { ...OTHER, state: 'final', outcome: 'refund', refund: { amount: undefined, reference: null } },
    ]
    const view: PaymentView = { ...VIEW, state: 'confirmed', arrivals, confirmedAt: NOW + 1000 }
    expect(receiptOf(view, { host: 'relay.example', now: NOW + 2000 })).toBe(`RECEIPT

For             the id ada
Price           25.5 USDT
Network         Ethereum
Token contract  0xdAC1
Paid to         0x5290
Confirmed       2027-01-15 08:00:01 UTC
Relay           relay.example
Written         2027-01-15 08:00:02 UTC

What arrived

2027-01-15 08:00:00 UTC  25.5 USDT on Ethereum
  Confirmed.
  ${HASH}
  https://explorer.example/tx/${HASH}

2027-01-15 08:00:00 UTC  Another token on Ethereum, contract 0x1234
  This does not pay for the order. It is recorded: the operator sees it and can give it back.
  ${HASH}other
`)
  })

  test('cannot be given further lines by what others chose', () => {
    const view: PaymentView = { ...VIEW, title: 'a\nConfirmed  yes', payTo: 'b\nRelay  c', arrivals: [PAID] }
    const text = receiptOf(view, { host: 'relay.example', now: NOW })
    expect(text).toStartWith('PAYMENTS FOR AN ORDER\n')
    expect(text.match(/^Confirmed/gm)).toHaveLength(1)
    expect(text.match(/^Relay/gm)).toHaveLength(1)
  })
})
