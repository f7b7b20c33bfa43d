// One command of the chat, as a row of a table.
import type { Chat } from './chat.ts'

/** A command after "/". */
export interface CommandRow {
  readonly name: string
  /** Its arguments, for the help: `<needed>`, `[optional]`. */
  readonly takes: string
  readonly summary: string
  readonly run: (chat: Chat, argument: string) => Promise<void>
  /** What may replace the argument, as far as it was typed. */
  readonly complete?: (chat: Chat, argument: string) => Promise<readonly string[]>
}

/** Commands under one title of the help. */
export interface CommandGroup {
  readonly title: string
  readonly rows: readonly CommandRow[]
}
