// Completion of typed text: the common beginning of choices, and choices of names.
import { graphemes } from '../sanitize.ts'

/** The beginning that all texts have in common. */
export function commonBeginning(texts: readonly string[]): string {
  const [first = '', ...others] = texts
  const characters = graphemes(first)
  let length = characters.length
  while (length > 0) {
    const beginning = characters.slice(0, length).join('')
    if (others.every((text) => text.startsWith(beginning))) return beginning
    length -= 1
  }
  return ''
}

/** The names that begin with a text, in any case of letters. */
export function namesFrom(names: readonly string[], text: string): readonly string[] {
  const wanted = text.toLowerCase()
  return [...new Set(names)].filter((name) => name.toLowerCase().startsWith(wanted))
}
