// How much longer a message may become, in characters of the kind that it has.
import { bytesLeftIn } from '@sotto/client'

/** A text of so many UTF-16 units, each of at most 6 bytes once it is in JSON, has room enough. */
const WORTH_COUNTING = 7000
/** The room is shown once it is smaller than this. */
const TOLD_BELOW = 1000

/**
 * About how many more characters fit, if that is worth telling. Below zero, the text is too long by so many.
 */
export function roomOf(text: string, replyToId: string | undefined): number | undefined {
  if (text.length < WORTH_COUNTING) return undefined
  const bytesLeft = bytesLeftIn(text, replyToId === undefined ? {} : { replyToId })
  const bytesEach = new TextEncoder().encode(text).length / text.length
  const left = Math.floor(bytesLeft / bytesEach)
  return left < TOLD_BELOW ? left : undefined
}
