// Says what an error means for media, where some codes mean something else.
import { ClientError } from '@sotto/client'
import { explain } from './explain.ts'
import { mediaTexts } from './media.ts'

/** The text for an error of media in the user's language. */
export function explainMedia(error: unknown): string {
  if (!(error instanceof ClientError)) return explain(error)
  const { codes } = mediaTexts.value
  return codes[error.refusal ?? error.code] ?? explain(error)
}
