// A generator of random characters for property tests.
import fc from 'fast-check'

/**
 * Any Unicode character except surrogates. fast-check's unit `binary` lists all of them first, which takes
 * seconds.
 */
export const anyCharacter = () =>
  fc
    .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
    .map((code) => String.fromCodePoint(code))
