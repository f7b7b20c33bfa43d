// How far a sent message has come: under way, at the relay, at the contact's device, read, or refused.
import type { MessageStatus } from '@sotto/client'
import { texts } from '../texts/texts.ts'
import './status-mark.css'

const PATHS: Readonly<Record<MessageStatus, string>> = {
  sending: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 5v3l2 1.5',
  sent: 'M3 8.5 6.5 12 13 5',
  delivered: 'M1 8.5 4.5 12 11 5M8 11.5l.5.5L15 5',
  // A disc with a check mark cut out: colour alone would not tell it from "delivered".
  read: 'M8 15A7 7 0 1 0 8 1a7 7 0 0 0 0 14ZM4 8.9l3 3 5.1-5.8-1.2-1L7 9.5 5.2 7.7Z',
  failed: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 5v3.5M8 11v.01',
}

export function StatusMark({ status }: { readonly status: MessageStatus }) {
  return (
    <svg
      class="status-mark"
      data-status={status}
      viewBox="0 0 16 16"
      role="img"
      aria-label={texts.value.conversation.marks[status]}
    >
      <path d={PATHS[status]} />
    </svg>
  )
}
