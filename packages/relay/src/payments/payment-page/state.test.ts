// What a payment page says in each state, and when it checks again.
import { describe, expect, test } from 'bun:test'
import type { PaymentKind, PaymentState, PaymentView } from './payment-view.ts'
import { pageStateOf } from './state.ts'

const NOW = 1_800_000_000_000
const VIEW: PaymentView = {
  arrivals: [],
  state: 'waiting',
  method: 'evm:1/0x1',
  kind: 'transfer',
  choices: [],
  title: 'the id ada',
  payTo: '0x52908400098527886E0F7030069857D2E4169EE7',
  amount: '25.5',
  symbol: 'USDT',
  network: 'Ethereum',
  received: '0',
  missing: '25.5',
  expiresAt: NOW + 900_000,
  payUri: 'ethereum:0x1',
}

function stateOf(view: Partial<PaymentView>) {
  return pageStateOf({ ...VIEW, ...view }, NOW)
}

test('while there is something to pay, it says how much and until when, and checks often', () => {
  expect(stateOf({})).toEqual({
    state: 'waiting',
    method: 'evm:1/0x1',
    now: NOW,
    expiresAt: NOW + 900_000,
    againMs: 3000,
    headline: 'Waiting for your payment',
    detail: expect.stringContaining('notices by itself'),
    due: '25.5',
    dueLabel: 'Amount',
    payUri: 'ethereum:0x1',
    arrivals: [],
    hasReceipt: false,
  })
})

test('if a part has arrived, the missing part is due', () => {
  const state = stateOf({ state: 'short', received: '10', missing: '15.5' })
  expect(state).toMatchObject({
    due: '15.5',
    dueLabel: 'Still missing',
    headline: '15.5 USDT is still missing',
  })
  expect(state.detail).toContain('10 USDT of 25.5 USDT arrived')
})

test('while the payment is being confirmed, nothing is due and no countdown runs', () => {
  const state = stateOf({
    state: 'seen',
    received: '25.5',
    missing: '0',
    confirmations: { have: 3, need: 12 },
  })
  expect(state.confirmations).toEqual({ have: 3, need: 12, text: '3 of 12 confirmations' })
  expect(state).not.toHaveProperty('expiresAt')
  expect(state).not.toHaveProperty('payUri')
  expect(state.againMs).toBe(3000)
  expect(stateOf({ state: 'seen', confirmations: { have: 20, need: 12 } }).confirmations?.text).toBe(
    '12 of 12 confirmations',
  )
})

test('after confirmation it does not check again, and mentions an excess', () => {
  expect(stateOf({ state: 'confirmed', received: '25.5' })).not.toHaveProperty('againMs')
  const over = stateOf({ state: 'confirmed', received: '30', excess: '4.5' })
  expect(over.detail).toContain('4.5 USDT more than the price')
  expect(over.detail).toContain('operator')
})

describe('once the time is over', () => {
  const kinds: PaymentKind[] = ['transfer', 'hosted', 'manual', 'dev']
  test.each(kinds)('a buyer who paid by %s reads that nothing is lost, and it checks less often', (kind) => {
    const state = stateOf({ state: 'expired', kind })
    expect(state.detail).toMatch(/not lost|nothing is lost/)
    expect(state.againMs).toBe(30_000)
    expect(state).not.toHaveProperty('expiresAt')
  })

  test('a buyer who paid too little or too late reads that the operator sees it', () => {
    const { detail } = stateOf({ state: 'refund', received: '10', missing: '15.5' })
    expect(detail).toContain('10 USDT arrived')
    expect(detail).toContain('not lost')
    expect(detail).toContain('the operator sees it')
  })
})

test('a buyer who pays manually reads that a person confirms it', () => {
  expect(stateOf({ kind: 'manual' }).detail).toContain('The operator confirms payments by hand')
})

test('an unknown symbol leaves no gap', () => {
  const states: PaymentState[] = ['short', 'seen', 'confirmed', 'refund']
  for (const state of states) {
    const { headline, detail } = stateOf({ state, symbol: '' })
    expect(`${headline} ${detail}`).not.toContain('  ')
  }
})
