// Messages that the user deleted a moment ago. They are hidden at once and deleted when it is too late to
// undo; a reload before that brings them back.
import { signal } from '@preact/signals'
import type { Organizer, StoredMessage } from '@sotto/client'
import { notify, notifyError } from '../../session/notices.ts'
import { keyOf } from './grouping.ts'

/** As long as the notice with its button is shown. */
const UNDO_MS = 6000

const hidden = signal<ReadonlySet<string>>(new Set())

/** Whether a message is about to be deleted. */
export function isHidden(message: StoredMessage): boolean {
  return hidden.value.has(fullKeyOf(message))
}

/** Deletes messages on this device, after a time in which it can be undone. */
export function removeSoon(
  organizer: Pick<Organizer, 'removeMessages'>,
  messages: readonly StoredMessage[],
  words: { readonly done: string; readonly undo: string },
): void {
  const keys = messages.map(fullKeyOf)
  const show = (): void => {
    hidden.value = new Set([...hidden.value].filter((key) => !keys.includes(key)))
  }
  hidden.value = new Set([...hidden.value, ...keys])
  const timer = setTimeout(() => {
    removeNotice()
    organizer.removeMessages(messages).catch(notifyError).finally(show)
  }, UNDO_MS)
  const run = (): void => {
    clearTimeout(timer)
    show()
  }
  const removeNotice = notify(words.done, { action: { label: words.undo, run } })
}

function fullKeyOf(message: StoredMessage): string {
  return `${message.conversationId} ${keyOf(message)}`
}
