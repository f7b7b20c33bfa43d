// Messages and queries for the benchmark of search: words as frequent as in natural languages (Zipf), from a
// fixed seed, and a tenth of the messages in a script without spaces.

/** The number of different words. */
const VOCABULARY = 30_000
const HAN = 1500

/** A small generator of pseudo-random numbers (mulberry32), so that every run searches the same texts. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The word of a rank. Frequent words are short. */
function wordOf(rank: number): string {
  let [word, rest] = ['', rank + 20]
  while (rest > 0) {
    word += `${'bcdfghklmnprstvz'[rest % 16]}${'aeiouäéo'[(rest >> 4) % 8]}`
    rest = Math.floor(rest / 128)
  }
  return word
}

function hanOf(rank: number): string {
  return String.fromCodePoint(0x4e00 + rank)
}

/** A rank below `count`; rank n is n times as rare as rank 1. */
function zipf(random: () => number, count: number): number {
  return Math.min(count - 1, Math.floor(Math.exp(random() * Math.log(count + 1)) - 1))
}

/** The texts of messages. */
export function textsOf(count: number): string[] {
  const random = randomFrom(1)
  return Array.from({ length: count }, () => {
    const length = 1 + Math.floor(random() * 20)
    if (random() < 0.1) return Array.from({ length }, () => hanOf(zipf(random, HAN))).join('')
    return Array.from({ length }, () => wordOf(zipf(random, VOCABULARY))).join(' ')
  })
}

/** Queries by kind. */
export const QUERIES: Readonly<Record<string, readonly string[]>> = {
  'a rare word': [20_000, 21_000, 22_000, 23_000, 24_000].map((rank) => `${wordOf(rank)} `),
  'a frequent word': [0, 1, 2, 3, 5].map((rank) => `${wordOf(rank)} `),
  'two words': [
    [100, 9000],
    [300, 400],
    [20, 2000],
    [1, 5000],
    [50, 60],
  ].map((ranks) => ranks.map(wordOf).join(' ')),
  'two frequent words': [
    [0, 1],
    [2, 7],
    [3, 30],
    [5, 50],
    [10, 11],
  ].map((ranks) => ranks.map(wordOf).join(' ')),
  'the beginning of a word': ['ba', 'kéb', 'solu', 'tihä', 'z'],
  'characters without spaces': [[0, 1], [900, 901], [10, 300], [700], [3]].map((ranks) =>
    ranks.map(hanOf).join(''),
  ),
  'nothing is found': ['xyzzy', 'quux ', 'bab qux', '龘龘', '1234567'],
}
