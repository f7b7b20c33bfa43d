// The addresses of the search: its words and where it looks are in them, so that a reload and the back button
// find the same results.
import { href } from '../../session/route.ts'

interface Wanted {
  readonly words: string
  /** The conversation to look in; all of them without it. */
  readonly inOne?: string | undefined
}

/** The address of a search, or of a message that it found. */
export function searchAddress(
  { words, inOne }: Wanted,
  found?: { conversationId: string; seq: number },
): string {
  const query = new URLSearchParams()
  if (words !== '') query.set('q', words)
  if (inOne !== undefined) query.set('in', inOne)
  if (found) query.set('at', String(found.seq))
  const place = found ? href('search', found.conversationId) : href('search')
  return `${place}?${query}`
}
