// One conversation: its messages, and the field to write in.
import type { Conversation as ConversationInfo } from '@sotto/client'
import { Avatar } from '../../parts/avatar.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty, Loading } from '../../parts/state.tsx'
import { href } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { texts } from '../../texts/texts.ts'
import { Composer } from './composer.tsx'
import { MessageList } from './message-list.tsx'
import './conversation.css'

export function Conversation({ id }: { readonly id: string }) {
  const session = useSession()
  const t = texts.value
  const all = session.conversations.value
  const conversation = all?.find(({ conversationId }) => conversationId === id)
  if (!all) return <Loading />
  if (!conversation)
    return (
      <Screen title="" back={href('chats')}>
        <Empty icon="chats" title={t.conversation.unknown} />
      </Screen>
    )
  return <OpenConversation key={id} conversation={conversation} />
}

function OpenConversation({ conversation }: { readonly conversation: ConversationInfo }) {
  const session = useSession()
  const t = texts.value
  const { conversationId, name, nickname, isFriend } = conversation
  const shownName = name ?? nickname
  return (
    <Screen
      back={href('chats')}
      isFixed
      title={
        <a class="conversation-title" href={href('contacts', conversationId)}>
          <Avatar name={shownName} seed={conversationId} size="small" />
          <span>
            <h1 class="one-line">
              <bdi>{shownName}</bdi>
            </h1>
            {session.typing.value.has(conversationId) && <span class="small soft">{t.chats.typing}</span>}
          </span>
        </a>
      }
      bottom={
        isFriend ? (
          <Composer conversation={conversation} />
        ) : (
          <p class="conversation-closed soft">{t.conversation.notFriends}</p>
        )
      }
    >
      <MessageList conversation={conversation} name={shownName} />
    </Screen>
  )
}
