// The id of a token (`jti`). It says under which key and since which logout the token was issued, so that
// tickets, connections and the list of dead tokens, which hold only the id, can tell whether the token lives.

/** What the id of a token says about it. */
export interface TokenOrigin {
  /** The key that signed it; undefined for tokens of versions before 0.1.0. */
  readonly kid: string | undefined
  /** The account's `logged_out_at` when it was issued. */
  readonly loggedOutAt: number
}

/** @param random unique text without dots */
export function createTokenId(random: string, { kid, loggedOutAt }: TokenOrigin & { kid: string }): string {
  return `${random}.${kid}${tokenIdEnd(loggedOutAt)}`
}

/** How the ids of all tokens end that were issued since this logout. */
export function tokenIdEnd(loggedOutAt: number): string {
  return `.${loggedOutAt}`
}

export function readTokenId(jti: string): TokenOrigin {
  const [, kid, loggedOutAt] = jti.split('.')
  return { kid, loggedOutAt: Number(loggedOutAt ?? 0) }
}
