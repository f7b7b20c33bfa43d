// What a search takes and answers, as plain data that crosses from one tab to another.
import * as v from 'valibot'
import { MessagePlace, StoredMessage } from '../stores/stores.ts'

/** Where a page of results ends. */
export type SearchPlace = Readonly<v.InferOutput<typeof MessagePlace>>

/** Options of `Search.find`. */
export interface SearchOptions {
  /** Only messages of the conversation with this contact: an alias or a conversation id. */
  readonly contact?: string
  /** At most this many results; 20 by default. */
  readonly limit?: number
  /** The `next` of a page, for the page after it. Without it, the first page. */
  readonly before?: SearchPlace | undefined
}

/** The schema of {@link SearchOptions}. */
export const Options = v.object({
  contact: v.exactOptional(v.string()),
  limit: v.exactOptional(v.number()),
  before: v.optional(MessagePlace),
})

/** A part of a text, in UTF-16 units, as `text.slice(start, end)` takes them. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

/** A message that was found. */
export interface SearchResult {
  readonly message: StoredMessage
  /** What was searched of it: its text, or the words and the name of its media, each on a line. */
  readonly text: string
  /** The parts of `text` to highlight, in order. */
  readonly ranges: readonly TextRange[]
}

/** Results, the latest message first. */
export interface SearchPage {
  readonly results: readonly SearchResult[]
  /** Given as `before`, it asks for the next page. Undefined after the last result. */
  readonly next?: SearchPlace
}

/** The schema of {@link SearchPage}. */
export const Page = v.object({
  results: v.array(
    v.object({
      message: StoredMessage,
      text: v.string(),
      ranges: v.array(v.object({ start: v.number(), end: v.number() })),
    }),
  ),
  next: v.exactOptional(MessagePlace),
})
