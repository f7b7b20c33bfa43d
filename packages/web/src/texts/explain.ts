// Says what an error means for the person at the screen: what happened, and what to do.
import type { ReadonlySignal } from '@preact/signals'
import { ClientError } from '@sotto/client'
import { texts } from './texts.ts'

/** Texts with words for codes of errors. */
type Words = ReadonlySignal<{ readonly codes: Readonly<Record<string, string>> }>

const others: Words[] = []

/** From now on these words are used, too. */
export function explainAlso(words: Words): void {
  others.push(words)
}

/** The text for an error in the user's language. */
export function explain(error: unknown): string {
  const { codes, unknown, changeRefused } = texts.value.errors
  if (!(error instanceof ClientError)) return unknown(error instanceof Error ? error.name : 'Error')
  const code = error.refusal ?? error.code
  const all = Object.assign({}, codes, ...others.map(({ value }) => value.codes))
  const words: string = all[code] ?? all[error.code] ?? unknown(code)
  // The library's words: a refused message says so itself, and these changes are seen nowhere.
  if (error.message === 'the contact does not get an edit or a reaction') return changeRefused(words)
  // In the operator's words, of any direction.
  const [, why] = /^CHANNEL_CLOSED: (.{1,500})/s.exec(error.message) ?? []
  return why === undefined ? words : `${words} \u2068${why}\u2069`
}
