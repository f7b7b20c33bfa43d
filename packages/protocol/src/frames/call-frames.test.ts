// Call frames: which fields the codec checks, and by which rules.
import { describe, expect, test } from 'bun:test'
import { type CallFrameType, isCallFrame, sentCallFrames } from './call-frames.ts'
import { decodeClientFrame, decodeRelayFrame } from './codec.ts'

const types = Object.keys(sentCallFrames) as CallFrameType[]
const valid = {
  to: 'u00000001',
  call_id: '7d2f6a54-3a1e-4e57-9a0b-0d6f1f0a9c55',
  from: 'u00000002',
  crypto_v: 2,
  payload: 'AAAA',
}

describe.each(types)('%s', (type) => {
  const decode = (changed: object, decoder: typeof decodeClientFrame | typeof decodeRelayFrame) =>
    decoder(JSON.stringify({ type, ...valid, ...changed }))

  test('is decoded unchanged in both directions, without unknown fields', () => {
    for (const decoder of [decodeClientFrame, decodeRelayFrame]) {
      const { frame } = decode({ more: [1], id: 7 }, decoder)
      expect(frame).toEqual({ type, ...valid } as never)
      expect(frame && isCallFrame<{ type: string }>(frame)).toBe(true)
    }
  })

  test('may lack `from` when a client sends it, but not when the relay sends it', () => {
    expect(decode({ from: undefined }, decodeClientFrame).fault).toBeUndefined()
    expect(decode({ from: undefined }, decodeRelayFrame).fault).toMatchObject({
      field: 'from',
      rule: 'is missing',
    })
  })

  test.each([
    ['to', [undefined, null, 'ab', 'UPPER', 7]],
    ['call_id', [undefined, null, '', 'with space', 'x'.repeat(129), 'ä', 7, {}]],
    ['from', [null, '', 'ab', 'UPPER', 7, []]],
    ['crypto_v', [undefined, null, 0, 256, 1.5, '2']],
    ['payload', [undefined, null, '', 'AAA', 'AAA_', 'A'.repeat(65_540), {}]],
  ])('with a wrong `%s` is a fault that names the field and the call', (field, values) => {
    for (const value of values) {
      expect(decode({ [field]: value }, decodeClientFrame).fault).toMatchObject({
        code: 'INVALID_FIELD',
        field,
        rule: expect.stringMatching(/^(?:is missing|must )/),
        ...(field === 'call_id' ? {} : { call_id: valid.call_id }),
      })
    }
  })
})

test('no other frame is a call frame', () => {
  for (const type of ['msg', 'ping', 'call_', 'call_more', '__proto__', 'toString'])
    expect(isCallFrame({ type })).toBe(false)
})
