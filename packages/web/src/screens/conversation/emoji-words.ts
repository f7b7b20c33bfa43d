// Which emoji a typed word means.
import type { Emoji } from '../../texts/emoji-names.ts'
import type { Language } from '../../texts/texts.ts'

const WORD = /(?:^|[\s(])(?::)([a-z0-9_+\p{Script=Arabic}\p{Mn}]{2,30})$/iu

/** The word after a colon just before this position, if an emoji is being named there. */
export function wordAt(text: string, position: number): string | undefined {
  return WORD.exec(text.slice(Math.max(0, position - 40), position))?.[1]
}

/** The list of names in the word's script: people write in other languages than the app's, too. */
export function emojiFor(word: string): Promise<readonly Emoji[]> {
  return allEmoji(/\p{Script=Arabic}/u.test(word) ? 'ar' : 'en')
}

/** All emoji with names in a language. */
export async function allEmoji(language: Language): Promise<readonly Emoji[]> {
  const { emojiList } =
    language === 'ar' ? await import('../../texts/ar/emoji.ts') : await import('../../texts/en/emoji.ts')
  return emojiList
}

/** The emoji whose name has the word: first those that begin with it, then those with a part that does. */
export function findEmoji(list: readonly Emoji[], word: string): readonly Emoji[] {
  const wanted = plain(word)
  const begins = list.filter(({ name }) => plain(name).startsWith(wanted))
  const hasPart = list.filter(({ name }) => {
    const known = plain(name)
    return !known.startsWith(wanted) && known.includes(`_${wanted}`)
  })
  return [...begins.sort((a, b) => a.name.length - b.name.length), ...hasPart]
}

/** A name as people type it: without case, vowel marks, hamza on the alef, and dots of the last letter. */
function plain(name: string): string {
  return name
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\p{Mn}\u0640]/gu, '')
    .replace(/[أإآٱ]/gu, 'ا')
    .replace(/ى/gu, 'ي')
    .replace(/ة/gu, 'ه')
}
