// Which emoji a typed word means.

/** An emoji and its name, as it is typed between colons. */
export interface Emoji {
  readonly character: string
  readonly name: string
}

const WORD = /(?:^|[\s(])(?::)([a-z0-9_+]{2,30})$/iu

/** The word after a colon just before this position, in lower case, if an emoji is being named there. */
export function wordAt(text: string, position: number): string | undefined {
  return WORD.exec(text.slice(Math.max(0, position - 40), position))?.[1]?.toLowerCase()
}

/** The emoji whose name has the word: first those that begin with it, then those with a part that does. */
export function findEmoji(list: readonly Emoji[], word: string): readonly Emoji[] {
  const begins = list.filter(({ name }) => name.startsWith(word))
  const hasPart = list.filter(({ name }) => !name.startsWith(word) && name.includes(`_${word}`))
  return [...begins.sort((a, b) => a.name.length - b.name.length), ...hasPart]
}
