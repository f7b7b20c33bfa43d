// The decoders of the protocol package: frames, bodies, and names.
import {
  check,
  cleanName,
  cleanText,
  clientFrames,
  decodeClientFrame,
  decodeRelayFrame,
  type Endpoint,
  encodeFrame,
  endpoints,
  ProtocolError,
  relayFrames,
} from '@sotto/protocol'
import fc from 'fast-check'
import { decoder, expectSame, expectTrue, orRefused } from './decoder.ts'
import type { Draws } from './inputs.ts'
import { anyText, anyValue, heavyJson, mutated } from './values.ts'

/** Values that are right in some field. */
const right = fc.constantFrom<unknown>(
  ...['u12345678', 'm1', '7d2f6a54-3a1e-4e57-9a0b-0d6f1f0a9c55', 1, 255, 'AAAA', true, 'text', 'a name'],
  ...[
    `${'A'.repeat(43)}=`,
    `${'A'.repeat(85)}A==`,
    `ch_${'a'.repeat(22)}`,
    `p_${'a'.repeat(28)}`,
    '12',
    '"e"',
  ],
  ...[`ord_${'a'.repeat(24)}`, `m_${'a'.repeat(22)}`, `m_${'a'.repeat(22)}.hAA`, `up_${'a'.repeat(22)}`],
  ...['2026-01-01T00:00:00.000Z', 'https://push.example/1', `B${'A'.repeat(86)}`, `${'A'.repeat(21)}A`],
  ...[[{ etag: 'e', part_number: 1 }], { p256dh: `B${'A'.repeat(86)}`, auth: `${'A'.repeat(21)}A` }],
)

function objectsOf(fields: readonly string[]): fc.Arbitrary<Record<string, unknown>> {
  const value = fc.oneof({ weight: 5, arbitrary: right }, { weight: 1, arbitrary: anyValue })
  return fc.record(Object.fromEntries(fields.map((field) => [field, value])), { requiredKeys: [] })
}

const FRAME_FIELDS = ['id', 'to', 'conv_id', 'crypto_v', 'payload', 'seq', 'from', 'at', 'call_id', 'count']
const frameTypes = [...Object.keys(clientFrames), ...Object.keys(relayFrames), '__proto__', 'toString']
const anyFrame = fc
  .tuple(fc.constantFrom(...frameTypes), objectsOf([...FRAME_FIELDS, 'friendship_id', 'reason', 'message']))
  .map(([type, fields]) => ({ type, ...fields }))

/** The text of a frame, broken in most cases. */
export function frameText(draws: Draws): string {
  const text = JSON.stringify(draws.of(anyFrame))
  const dice = draws.next()
  if (dice < 0.4) return text
  if (dice < 0.8) return mutated(text, draws)
  return draws.of(dice < 0.85 ? heavyJson : anyText)
}

const schemas = Object.entries<Endpoint>(endpoints).flatMap(([name, { body, query, params, reply }]) => {
  const given = { body, query, params, reply }
  return Object.entries(given).flatMap(([part, schema]) =>
    schema
      ? [
          {
            name: `${name} ${part}`,
            schema,
            values: objectsOf(fieldsOf(schema)),
            isText: part === 'query' || part === 'params',
          },
        ]
      : [],
  )
})

function fieldsOf(schema: Parameters<typeof check>[0]): string[] {
  const { entries, item } = schema as { entries?: object; item?: { entries?: object } }
  return Object.keys(entries ?? item?.entries ?? {})
}

export const protocolDecoders = [
  decoder('frames', frameText, (text) => {
    for (const decode of [decodeClientFrame, decodeRelayFrame]) {
      const { frame, fault } = decode(text)
      if (frame) expectSame('a decoded frame decodes again', decode(encodeFrame(frame)).frame, frame)
      else
        expectTrue(
          'a fault has a code',
          ['INVALID_JSON', 'INVALID_FIELD', 'UNKNOWN_FRAME'].includes(fault.code),
        )
    }
  }),
  decoder(
    'bodies',
    (draws) => {
      const { name, values, schema, isText } = draws.pick(schemas)
      const value = draws.chance(0.85) ? draws.of(values) : draws.of(anyValue)
      return { name, schema, isText, value: draws.chance(0.2) ? [value] : value }
    },
    ({ schema, isText, value }) => {
      const checked = orRefused(ProtocolError, () => check(schema, value))
      // A path or a query becomes numbers, so it cannot be checked again.
      if (checked !== undefined && !isText)
        expectSame('a checked body stays as it is', check(schema, checked), checked)
    },
  ),
  decoder(
    'names',
    (draws) => draws.of(anyText) + draws.of(INVISIBLE) + draws.of(anyText),
    (text) => {
      for (const clean of [cleanName, cleanText]) {
        const cleaned = clean(text)
        expectSame('a cleaned text is clean', clean(cleaned), cleaned)
        expectTrue('no bidirectional control is left', !/[\u202a-\u202e\u2066-\u2069]/.test(cleaned))
      }
    },
  ),
]

const INVISIBLE = fc.string({
  maxLength: 12,
  unit: fc.constantFrom(
    ...'\u200d\u200c\u202e\u2066\ufe0f\ufe0e\u20e3\u0000\n\t\u2028\u00ad\u034f\u180e1#क्ष\u{1f3f4}\u{e0067}\u{e007f}\u{1f469}\u{1f3fd}中ا',
  ),
})
