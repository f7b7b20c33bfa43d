// Says what an error means.
import { adminTexts } from '../texts/admin.ts'
import { AdminError } from './relay-commands.ts'

/** What an error means. The relay’s own sentence is in English. */
export function explain(error: unknown): string {
  const t = adminTexts.value
  if (!(error instanceof AdminError)) return t.unexpected
  return error.status === 0 ? t.unreachable : error.message
}
