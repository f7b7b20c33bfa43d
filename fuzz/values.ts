// Values that decoders and endpoints do not expect, and random changes of valid texts.
import fc from 'fast-check'
import { anyCharacter } from '../packages/protocol/test/any-character.ts'
import type { Draws } from './inputs.ts'

/** Text of any characters, with lone surrogates now and then. */
export const anyText = fc.oneof(
  fc.string({ unit: anyCharacter() }),
  fc.string({ unit: 'grapheme' }),
  fc.string(),
  fc.constantFrom('', '\u0000', '\ud800', '\udfff\ud800', '\ufeff', ' ', '\r\n', '__proto__', 'constructor'),
)

/** Bytes of any value. */
export const anyBytes = fc.uint8Array({ maxLength: 200 })

/** Values at the edges of what types and engines can represent. */
const edges = fc.constantFrom<unknown>(
  ...[null, true, false, '', ' ', [], {}, [[]], 0, -0, -1, 1, 1.5, 1e308, -1e308, 5e-324],
  ...[2 ** 31, 2 ** 32, 2 ** 53, 2 ** 63, -(2 ** 63), Number.MAX_SAFE_INTEGER, '0', '-1', '1e9', 'NaN'],
  ...[
    '\u0000',
    '\ud800',
    '\u202e',
    '__proto__',
    'constructor',
    'toString',
    "' OR 1=1 --",
    '%00',
    '../../etc',
  ],
  ...[
    'A===',
    'AAAA',
    'A'.repeat(5000),
    '\u{1f469}\u200d'.repeat(200),
    'null',
    'undefined',
    '[object Object]',
  ],
)

/** JSON values that few schemas expect. */
export const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: edges },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: anyText },
)

/** JSON that is nested so deep, or so long, that it may hurt. */
export const heavyJson = fc.oneof(
  fc.integer({ min: 1, max: 30_000 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  fc.integer({ min: 1, max: 10_000 }).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
  fc.integer({ min: 1, max: 90_000 }).map((length) => JSON.stringify({ nickname: 'x'.repeat(length) })),
  fc.integer({ min: 1, max: 8000 }).map((count) => `{${'"nickname":"a",'.repeat(count)}"nickname":"b"}`),
  fc.integer({ min: 1, max: 8000 }).map((count) => JSON.stringify({ parts: Array(count).fill({}) })),
  fc.integer({ min: 1, max: 20_000 }).map((digits) => `{"seq":${'9'.repeat(digits)}}`),
)

/** A text with one to four random changes: cuts, repetitions, insertions, other characters. */
export function mutated(text: string, draws: Draws): string {
  let changed = text
  for (let changes = draws.whole(1, 4); changes > 0; changes--) changed = changeOnce(changed, draws)
  return changed
}

function changeOnce(text: string, draws: Draws): string {
  const at = draws.whole(0, text.length)
  const end = Math.min(text.length, at + draws.whole(0, 12))
  const [before, part, after] = [text.slice(0, at), text.slice(at, end), text.slice(end)]
  switch (draws.whole(0, 6)) {
    case 0:
      return before + after
    case 1:
      return before + part.repeat(draws.whole(2, 20)) + after
    case 2:
      return before + draws.of(anyText) + after
    case 3:
      return before
    case 4:
      return (
        before + draws.pick(['"', '\\', '{', '}', '[', ']', ',', ':', '0', '-', 'e9', '\u0000', '\n']) + after
      )
    case 5:
      return before + String.fromCharCode(draws.whole(0, 0xffff)) + after
    default:
      return before + [...part].toReversed().join('') + after
  }
}

/** Bytes with one to four random changes. */
export function mutatedBytes(bytes: Uint8Array, draws: Draws): Buffer {
  let changed = Buffer.from(bytes)
  for (let changes = draws.whole(1, 4); changes > 0; changes--) {
    const at = draws.whole(0, changed.length)
    const end = Math.min(changed.length, at + draws.whole(0, 12))
    const [before, after] = [changed.subarray(0, at), changed.subarray(draws.chance(0.3) ? at : end)]
    changed = Buffer.concat(draws.chance(0.2) ? [before] : [before, draws.of(anyBytes).subarray(0, 8), after])
  }
  return changed
}
