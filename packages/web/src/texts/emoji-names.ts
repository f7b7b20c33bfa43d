// Reads the lists of emoji and their names.

/** An emoji and its name, as it is typed between colons. */
export interface Emoji {
  readonly character: string
  readonly name: string
}

/** The emoji of a list: a name, a space, the emoji, a space, and so on. */
export function emojiIn(list: string): readonly Emoji[] {
  return [...list.matchAll(/(\S+)\s+(\S+)/gu)].map(([, name = '', character = '']) => ({ name, character }))
}
