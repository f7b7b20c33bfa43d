// The codec with valid frames, with each rule broken once, and with arbitrary text. It must return a frame or
// a fault and never throw.
import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { anyCharacter } from '../../test/any-character.ts'
import { errors } from '../errors.ts'
import type { CallFrameType } from './call-frames.ts'
import type { clientFrames } from './client-frames.ts'
import { decodeClientFrame, decodeRelayFrame, encodeFrame } from './codec.ts'

const CONV = 'c3a1f0de-5b7a-4c1d-9e2f-0123456789ab'
const valid = {
  ping: { type: 'ping' },
  sync: { type: 'sync' },
  msg: { type: 'msg', id: 'm-1', to: 'u00000001', conv_id: CONV, crypto_v: 1, payload: 'AAAA' },
  delivered: { type: 'delivered', conv_id: CONV, seq: 1, to: 'u00000001' },
  read: { type: 'read', conv_id: CONV, seq: 1, to: 'u00000001' },
  typing: { type: 'typing', to: 'u00000001', conv_id: CONV },
  retract: { type: 'retract', id: 'm-1', to: 'u00000001', conv_id: CONV },
} as const satisfies Record<Exclude<keyof typeof clientFrames, CallFrameType>, object>

describe('a frame of a client', () => {
  test.each(Object.entries(valid))('%s is decoded unchanged, without unknown fields', (_type, frame) => {
    expect(decodeClientFrame(JSON.stringify(frame))).toEqual({ frame } as never)
    const more = { ...frame, from: 'u00000002', at: 1, nested: { type: 'goaway' }, '': null }
    expect(decodeClientFrame(JSON.stringify(more))).toEqual({ frame } as never)
  })

  const broken = Object.entries(valid).flatMap(([type, frame]) =>
    Object.keys(frame)
      .filter((field) => field !== 'type')
      .map((field) => [type, field, frame] as const),
  )
  test.each(broken)('%s without a valid `%s` is a fault that names the field', (_type, field, frame) => {
    for (const value of [undefined, null, {}, [], true, '', 0, -1, 1.5, 'ä', '\u0000', Number.MAX_VALUE]) {
      const { fault } = decodeClientFrame(JSON.stringify({ ...frame, [field]: value }))
      expect(fault).toMatchObject({
        code: 'INVALID_FIELD',
        field,
        rule: expect.stringMatching(/^(?:is missing|must )/),
      })
    }
  })

  test.each([
    ['id', 'x'.repeat(129)],
    ['id', 'with space'],
    ['to', 'ab'],
    ['to', 'UPPER'],
    ['to', 'x'.repeat(33)],
    ['to', 'u00000001\n'],
    ['conv_id', CONV.toUpperCase()],
    ['conv_id', CONV.replaceAll('-', '')],
    ['conv_id', CONV.replace('4c1d', '1c1d')],
    ['crypto_v', 0],
    ['crypto_v', 256],
    ['crypto_v', '1'],
    ['payload', 'AAA'],
    ['payload', 'AAA_'],
    ['payload', 'AA=='.repeat(2)],
    ['payload', 'AAAA\n'],
    ['payload', 'A'.repeat(65_540)],
  ])('a msg whose %s is %p is refused', (field, value) => {
    expect(decodeClientFrame(JSON.stringify({ ...valid.msg, [field]: value })).fault).toMatchObject({
      code: 'INVALID_FIELD',
      field,
    })
  })

  test.each([
    ['id', 'x'.repeat(128)],
    ['to', 'x'.repeat(32)],
    ['to', '___'],
    ['crypto_v', 255],
    ['payload', 'A'.repeat(65_536)],
    ['payload', 'AAA='],
    ['payload', 'AA=='],
  ])('a msg whose %s is at its limit is taken', (field, value) => {
    expect(decodeClientFrame(JSON.stringify({ ...valid.msg, [field]: value })).fault).toBeUndefined()
  })

  test("a fault contains the frame's id, cut short, and its conversation, and quotes nothing else", () => {
    const secret = 'not-for-any-log'
    const { fault } = decodeClientFrame(
      JSON.stringify({ ...valid.msg, payload: secret, id: 'i'.repeat(500) }),
    )
    expect(fault).toEqual({
      code: 'INVALID_FIELD',
      field: 'id',
      rule: 'must be 1 to 128 printable ASCII characters without spaces',
      id: 'i'.repeat(128),
      conv_id: CONV,
    })
  })
})

describe('any text', () => {
  const texts = fc.oneof(
    fc.string({ unit: anyCharacter() }),
    fc.json(),
    fc.jsonValue().map((value) => JSON.stringify({ type: 'msg', payload: value })),
    fc
      .tuple(
        fc.constantFrom(...Object.values(valid).map((frame) => JSON.stringify(frame))),
        fc.nat(200),
        fc.string({ maxLength: 6 }),
      )
      .map(([text, at, insert]) => text.slice(0, at) + insert + text.slice(at + 1)),
  )

  test.each([
    ['client', decodeClientFrame],
    ['relay', decodeRelayFrame],
  ] as const)(
    'from a %s is a frame that survives encoding, or a fault of the registry',
    async (_sender, decode) => {
      await fc.assert(
        fc.property(texts, (text) => {
          const { frame, fault } = decode(text)
          expect((frame === undefined) !== (fault === undefined)).toBe(true)
          if (frame) expect(decode(encodeFrame(frame))).toEqual({ frame } as never)
          if (fault) expect(errors[fault.code].status).toBe(400)
        }),
        { numRuns: 3000 },
      )
    },
  )

  test('with deep nesting is a fault or a frame, not a crash', () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000)
    expect(decodeClientFrame(deep).fault?.code).toBe('INVALID_JSON')
    expect(() => decodeClientFrame(`{"type":"ping","x":${deep}}`)).not.toThrow()
  })

  test("whose type is the name of an object's built-in property is a fault", () => {
    for (const type of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
      expect(decodeClientFrame(JSON.stringify({ type })).fault?.code).toBe('UNKNOWN_FRAME')
      expect(decodeRelayFrame(JSON.stringify({ type })).fault?.code).toBe('UNKNOWN_FRAME')
    }
    expect(decodeClientFrame('{"__proto__":{"type":"ping"}}').fault).toMatchObject({
      code: 'INVALID_FIELD',
      field: 'type',
    })
  })

  test('with a frame of the other direction is a fault', () => {
    expect(decodeClientFrame('{"type":"goaway","reason":"jwt_revoked"}').fault?.code).toBe('UNKNOWN_FRAME')
    expect(decodeRelayFrame('{"type":"sync"}').fault?.code).toBe('UNKNOWN_FRAME')
  })
})
