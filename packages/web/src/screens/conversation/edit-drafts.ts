// The drafts of edits that were not ended when their conversation was left. A reload loses them.
import { type Client, Replies, type StoredMessage } from '@sotto/client'
import { notifyError } from '../../session/notices.ts'

/** What was typed into the form of a message, and the text that the message had. */
interface Draft {
  readonly message: Pick<StoredMessage, 'conversationId' | 'id'>
  readonly before: string
  readonly typed: string
}

/** The drafts of one account, by `nameOf`. */
type Drafts = Map<string, Draft>

const draftsOf = new WeakMap<Client, Drafts>()

/** The drafts of a client. One ends with its message, and all end when the client is locked. */
export function editDrafts(client: Client): Drafts {
  const known = draftsOf.get(client)
  if (known) return known
  const drafts: Drafts = new Map()
  draftsOf.set(client, drafts)
  client.on('lock_state', () => drafts.clear())
  client.on('changes', (changes) => {
    const changed = changes.flatMap(({ kind, conversationId }) =>
      kind === 'messages' ? [conversationId] : [],
    )
    for (const draft of drafts.values())
      if (changed.includes(draft.message.conversationId)) forgetGone(client, drafts, draft).catch(notifyError)
  })
  return drafts
}

/** The key of a message's draft. */
export function nameOf({ conversationId, id }: Draft['message']): string {
  return `${conversationId} ${id}`
}

/** Forgets a draft whose message was retracted or deleted here, also by another tab. */
async function forgetGone(client: Client, drafts: Drafts, { message }: Draft): Promise<void> {
  const { conversationId, id } = message
  // An own message is what a contact's reply names first.
  const reply = { conversationId, isMe: false, replyToId: id }
  const found = await new Replies(client).originalOf(reply)
  if (!found || found.retracted) drafts.delete(nameOf(message))
}
