// Completion of typed text: the common beginning of choices.
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
