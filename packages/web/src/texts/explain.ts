// Says what an error means for the person at the screen: what happened, and what to do.
import { ClientError } from '@sotto/client'
import { texts } from './texts.ts'

/** The text for an error in the user's language. */
export function explain(error: unknown): string {
  const { codes, unknown } = texts.value.errors
  if (!(error instanceof ClientError)) return unknown(error instanceof Error ? error.name : 'Error')
  const code = error.refusal ?? error.code
  return codes[code] ?? codes[error.code] ?? unknown(code)
}
