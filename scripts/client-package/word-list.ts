// The BIP-39 word list, packed for the build: a sorted list says each word's beginning again and again. It is by far the
// largest single thing in the package; packed it weighs 4.4 kB gzip instead of 6.4.
import type { Plugin } from 'vite'

/** How many characters a word shares with the one before it, as a capital letter: `A` none, `B` one… */
const A = 65

/** Each word as the count of characters it shares with the one before, and the rest. */
export function packWords(words: readonly string[]): string {
  let before = ''
  return words
    .map((word) => {
      let shared = 0
      while (shared < word.length && word[shared] === before[shared]) shared += 1
      before = word
      return String.fromCharCode(A + shared) + word.slice(shared)
    })
    .join('')
}

/** Puts the packed English list, and what unpacks it when it is loaded, in the place of the plain one. */
export const packedWordList: Plugin = {
  name: 'packed word list',
  async load(path) {
    if (!/bip39[/\\]wordlists[/\\]english\.js$/.test(path)) return undefined
    const { wordlist }: { wordlist: readonly string[] } = await import(path)
    return moduleOf(packWords(wordlist))
  },
}

function moduleOf(packed: string): string {
  return `
/** The BIP-39 English words, each written as how many letters it shares with the one before (A for none) and the rest. */
export const wordlist = /* @__PURE__ */ unpack(${JSON.stringify(packed)});

function unpack(packed) {
  let word = "";
  return packed.match(/[A-Z][a-z]*/g).map((part) => (word = word.slice(0, part.charCodeAt(0) - ${A}) + part.slice(1)));
}
`
}
