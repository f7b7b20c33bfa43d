// Begins to read a conversation when a pointer is pressed on its row. The row is followed when the pointer is
// let go, about a tenth of a second later, and the messages are there by then.
import { notifyError } from '../../session/notices.ts'
import { routeOf } from '../../session/route-of.ts'
import type { Session } from '../../session/session.ts'
import { MessagePages, type Target } from './message-pages.ts'

/** What is not opened within this time after the press is not read any more. */
const KEPT_MS = 1000

/** The window of messages of a conversation, which is read already. */
export interface Opening {
  readonly conversationId: string
  readonly pages: MessagePages
  /** Ends the reading. */
  readonly stop: () => void
}

let pressed: Opening | undefined

/** Begins to read the conversation whose row was pressed, if it was one. */
export function beginOpening(session: Session, target: EventTarget | null): void {
  const link = target instanceof Element ? target.closest('a') : null
  const { path, query } = routeOf(link?.hash ?? '')
  const [from, id] = path
  const conversation = session.conversations.value?.find(({ conversationId }) => conversationId === id)
  if (!conversation || from !== 'chats' || query.at !== undefined) return
  pressed?.stop()
  const opening = open(session, conversation.conversationId, startOf(Number.NaN, conversation.firstUnreadSeq))
  pressed = opening
  setTimeout(() => {
    if (pressed !== opening) return
    pressed = undefined
    opening.stop()
  }, KEPT_MS)
}

/** Reads a conversation, or goes on with what was begun when its row was pressed. */
export function takeOpening(session: Session, conversationId: string, target: Target): Opening {
  const begun = pressed
  if (begun?.conversationId !== conversationId || (typeof target === 'object' && !target.isQuiet))
    return open(session, conversationId, target)
  pressed = undefined
  return begun
}

/** Where a conversation is opened: at the message that the address names, the first unread one, the end. */
export function startOf(wantedSeq: number, unreadSeq: number | undefined): Target {
  if (wantedSeq > 0) return { seq: wantedSeq }
  return unreadSeq === undefined ? 'end' : { seq: unreadSeq, isQuiet: true }
}

function open({ client }: Session, conversationId: string, target: Target): Opening {
  const pages = new MessagePages(client, conversationId, notifyError)
  return { conversationId, pages, stop: pages.open(target) }
}
