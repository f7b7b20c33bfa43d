// Reads what the relay says about a suspension: the operator's words, and then the end if there is one.

/** More than an operator can write, for relays that say more than others. */
const MOST_CHARACTERS = 1000

/** Why an account is suspended, and until when. */
export interface SuspensionWords {
  /** In the operator's words; empty if there are none. */
  readonly reason: string
  /** In milliseconds since 1970; undefined if no end is set. */
  readonly until: number | undefined
}

/** Reads the message of the client's error: `ACCOUNT_SUSPENDED: Spam (until 2027-01-31T12:00Z)`. */
export function readSuspension(message: string): SuspensionWords {
  const words = message.slice(0, MOST_CHARACTERS).replace(/^ACCOUNT_SUSPENDED(?:: |$)/, '')
  const end = / \(until (\d{4}-\d\d-\d\dT\d\d:\d\dZ)\)$/.exec(words)
  const until = Date.parse(end?.[1] ?? '')
  if (!end || Number.isNaN(until)) return { reason: words, until: undefined }
  return { reason: words.slice(0, end.index), until }
}
