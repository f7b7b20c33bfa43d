// Forwards messages. Text is sent at once; media are uploaded again for each contact, and what follows them
// waits, so that all of it arrives in order.
import { type Conversation, contentOf, type StoredMessage } from '@sotto/client'
import { notify } from '../../session/notices.ts'
import { go, href } from '../../session/route.ts'
import type { Session } from '../../session/session.ts'
import { namesOf } from '../../texts/dates.ts'
import { texts } from '../../texts/texts.ts'

/**
 * Sends the content of messages to conversations, and says so. Resolves once all text before the first medium
 * is sent, and the rest waits in the list of what is being sent. @throws ClientError as `send` does
 */
export async function forward(
  { client }: Session,
  messages: readonly StoredMessage[],
  to: readonly Conversation[],
): Promise<void> {
  const contents = messages.flatMap((message) => {
    const content = contentOf(message)
    return content ? [{ from: message.conversationId, content }] : []
  })
  const firstMedium = contents.findIndex(({ content }) => content.kind !== 'text')
  const atOnce = firstMedium < 0 ? contents : contents.slice(0, firstMedium)
  const later = contents.slice(atOnce.length)
  const uploads = later.length > 0 ? (await import('../../session/uploads.ts')).Uploads.of(client) : undefined
  for (const { conversationId } of to) {
    for (const { content } of atOnce)
      if (content.kind === 'text') await client.send(conversationId, content.text)
    for (const { from, content } of later) {
      if (content.kind === 'text')
        uploads?.add({ kind: 'text', conversationId, source: content.text, name: '' })
      else
        uploads?.add({
          kind: content.kind,
          conversationId,
          source: { conversationId: from, content },
          name: content.kind === 'file' ? content.name : '',
        })
    }
  }
  tell(to, later.length === 0)
}

/** @param isSent false while some of it is still under way, which can fail */
function tell(to: readonly Conversation[], isSent: boolean): void {
  const t = texts.value.conversation
  const names = namesOf(to.map(({ name, nickname }) => name ?? nickname))
  const [first, ...others] = to
  const open = { label: t.open, run: () => go(href('chats', first?.conversationId ?? '')) }
  notify(isSent ? t.forwarded(names) : t.forwarding(names), others.length === 0 ? { action: open } : {})
}
