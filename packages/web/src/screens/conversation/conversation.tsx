// One conversation: its messages, what can be done with them, and the field to write in.
import { useSignal } from '@preact/signals'
import { type Conversation as ConversationInfo, contentOf, Replies, type StoredMessage } from '@sotto/client'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { Avatar } from '../../parts/avatar.tsx'
import { lazy } from '../../parts/lazy.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty, Loading } from '../../parts/state.tsx'
import { copyText } from '../../session/clipboard.ts'
import { now } from '../../session/clock.ts'
import { attempt, notify, notifyError } from '../../session/notices.ts'
import { go, href, type Route, route } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { texts } from '../../texts/texts.ts'
import { CallButtons } from '../calls/call-buttons.tsx'
import { conversationMenu } from '../chats/conversation-menu.ts'
import { searchAddress } from '../search/search-address.ts'
import type { BubbleActions } from './bubble-actions.ts'
import { Composer } from './composer.tsx'
import { ConversationDialog, type OpenDialog } from './conversation-dialog.tsx'
import { useEscape } from './escape.ts'
import { keyOf } from './grouping.ts'
import { MessageList } from './message-list.tsx'
import { type MessageActions, MessageMenu } from './message-menu.tsx'
import { MessagePages, type Target } from './message-pages.ts'
import { useReading } from './reading.ts'
import { isHidden, removeSoon } from './removals.ts'
import { SelectionBar, SelectionTitle } from './selection-bar.tsx'
import './conversation.css'

const ComposerRoom = () => <span class="composer-room" />
const Attachments = lazy(async () => (await import('./media/attachments.tsx')).Attachments, ComposerRoom)
const VoiceRecorder = lazy(
  async () => (await import('./media/voice-recorder.tsx')).VoiceRecorder,
  ComposerRoom,
)

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
  const { client, organizer, unsent } = session
  const { conversationId, name, nickname, isFriend, lastMessage } = conversation
  const shownName = name ?? nickname
  const t = texts.value
  const words = t.conversation
  const pages = useMemo(() => new MessagePages(client, conversationId, notifyError), [])
  const replies = useMemo(() => new Replies(client), [])
  const reading = useReading(session, conversation, shownName)
  const replyTo = useSignal<StoredMessage | undefined>(undefined)
  const selected = useSignal<ReadonlySet<string> | undefined>(undefined)
  const revision = useSignal(0)
  const [menu, setMenu] = useState<{ readonly message: StoredMessage; readonly element: Element }>()
  const [dialog, setDialog] = useState<OpenDialog>()
  const wanted = Number(route.value.query.at)

  useEffect(() => pages.open(startOf(wanted, reading.unreadSeq)), [])
  useEffect(() => {
    if (wanted > 0) pages.show({ seq: wanted })
  }, [route.value])
  useEffect(
    () =>
      client.on('retracted', (message) => {
        if (message.conversationId === conversationId) revision.value += 1
      }),
    [],
  )
  useEscape(selected.value !== undefined, () => (selected.value = undefined))

  const list = pages.list.value?.filter((message) => !isHidden(message))
  const chosen = list?.filter((message) => selected.value?.has(keyOf(message))) ?? []
  const endSelection = (): void => {
    selected.value = undefined
  }
  const toggle = (message: StoredMessage): void => {
    const key = keyOf(message)
    const others = [...(selected.value ?? [])].filter((each) => each !== key)
    selected.value = new Set(selected.value?.has(key) ? others : [...others, key])
  }
  const remove = (messages: readonly StoredMessage[]): void => {
    removeSoon(organizer, messages, { done: words.removed(messages.length), undo: t.common.undo })
    endSelection()
  }
  const takeReply = (): string | undefined => {
    const id = replyTo.value?.id
    replyTo.value = undefined
    return id
  }
  const copy = async (text: string): Promise<void> => {
    if (await attempt(() => copyText(text))) notify(t.common.copied)
    endSelection()
  }
  const forward = async (messages: readonly StoredMessage[], to: ConversationInfo): Promise<void> => {
    setDialog(undefined)
    endSelection()
    const isDone = await attempt(async () => {
      for (const message of messages) await client.send(to.conversationId, textOf(message) ?? '')
    })
    const open = { label: words.open, run: () => go(href('chats', to.conversationId)) }
    if (isDone) notify(words.forwarded(to.name ?? to.nickname), { action: open })
  }
  const bubbleActions: BubbleActions = useMemo(
    () => ({
      onMenu: (message, element) => setMenu({ message, element }),
      onReply: (message) => (replyTo.value = message),
      onOriginal: ({ seq }) => seq !== undefined && pages.show({ seq }),
      onSelect: toggle,
      onMisleadingLink: (link) => setDialog({ kind: 'link', link }),
      findOriginal: async (message) => {
        try {
          return await replies.originalOf(message)
        } catch (error) {
          notifyError(error)
          return undefined
        }
      },
      revision,
    }),
    [],
  )
  const messageActions: MessageActions = {
    onReply: bubbleActions.onReply,
    onCopy: copy,
    onForward: (message) => setDialog({ kind: 'forward', messages: [message] }),
    onDetails: (message) => setDialog({ kind: 'details', message }),
    onSelect: toggle,
    onResend: ({ id }) => attempt(() => unsent.resend(conversationId, id)).then(() => pages.show('end')),
    onDrop: ({ id }) => attempt(() => unsent.drop(conversationId, id)),
    onRetract: (message) => setDialog({ kind: 'retract', message }),
    onRemove: (message) => remove([message]),
  }
  const forwardable = chosen.filter((message) => textOf(message) !== undefined)
  const isSelecting = selected.value !== undefined
  return (
    <Screen
      {...(isSelecting ? {} : { back: backFrom(route.value) })}
      isFixed
      title={
        isSelecting ? (
          <SelectionTitle count={chosen.length} onEnd={endSelection} />
        ) : (
          <a class="conversation-title" href={href('contacts', conversationId)}>
            <Avatar name={shownName} seed={conversationId} size="small" />
            <span>
              <h1 class="one-line">
                <bdi>{shownName}</bdi>
              </h1>
              {session.typing.value.has(conversationId) && <span class="small soft">{t.chats.typing}</span>}
            </span>
          </a>
        )
      }
      actions={
        isSelecting ? (
          <SelectionBar
            count={chosen.length}
            onCopy={() => copy(forwardable.map(textOf).join('\n'))}
            onForward={() => setDialog({ kind: 'forward', messages: forwardable })}
            onRemove={() => remove(chosen)}
          />
        ) : (
          <>
            {isFriend && <CallButtons conversationId={conversationId} />}
            <Menu
              label={t.chats.actions(shownName)}
              items={[
                {
                  label: t.chats.searchHere,
                  icon: 'search',
                  onClick: () => go(searchAddress({ words: '', inOne: conversationId })),
                },
                {
                  label: t.chats.selectMessages,
                  icon: 'check',
                  onClick: () => (selected.value = new Set()),
                },
                ...conversationMenu(session, conversation, now.value),
                {
                  label: t.chats.clear,
                  icon: 'trash',
                  onClick: () => setDialog({ kind: 'clear' }),
                  isDangerous: true,
                },
              ]}
            />
          </>
        )
      }
      bottom={
        isFriend ? (
          <Composer
            conversation={conversation}
            name={shownName}
            replyTo={replyTo}
            isFocused={!(wanted > 0)}
            attachments={<Attachments conversationId={conversationId} takeReply={takeReply} />}
            voice={(isEmpty) => (
              <VoiceRecorder conversationId={conversationId} takeReply={takeReply} isOffered={isEmpty} />
            )}
            onSent={() => {
              reading.forgetLine()
              pages.show('end')
            }}
          />
        ) : (
          <p class="conversation-closed soft">{words.notFriends}</p>
        )
      }
    >
      {!list ? (
        <Loading />
      ) : list.length === 0 ? (
        <Empty icon="lock" title={words.empty}>
          {words.emptyHint}
        </Empty>
      ) : (
        <MessageList
          pages={pages}
          list={list}
          name={shownName}
          lastSeq={lastMessage?.seq ?? list.findLast(({ seq }) => seq !== undefined)?.seq ?? list.length}
          unreadSeq={reading.unreadSeq}
          newCount={reading.newCount}
          selected={selected}
          actions={bubbleActions}
          onEndSeen={reading.onEndSeen}
        />
      )}
      <p class="spoken" role="status" aria-live="polite">
        {reading.announced}
      </p>
      {menu && (
        <MessageMenu
          key={`${keyOf(menu.message)}`}
          message={menu.message}
          element={menu.element}
          actions={messageActions}
          canSend={isFriend}
          onClose={() => setMenu(undefined)}
        />
      )}
      {dialog && (
        <ConversationDialog
          dialog={dialog}
          name={shownName}
          isVerified={conversation.isVerified}
          conversations={session.conversations.value ?? []}
          onForward={forward}
          onClear={() => attempt(() => organizer.clear(conversationId))}
          onRetract={({ id }) => attempt(() => client.retract(conversationId, id))}
          onClose={() => setDialog(undefined)}
        />
      )}
    </Screen>
  )
}

/** Where the conversation is opened: at the message that the address names, the first unread one, the end. */
function startOf(wantedSeq: number, unreadSeq: number | undefined): Target {
  if (wantedSeq > 0) return { seq: wantedSeq }
  return unreadSeq === undefined ? 'end' : { seq: unreadSeq, isQuiet: true }
}

/** Where the back button leads: to the results or to the archive, if one came from there. */
function backFrom({ path: [from], query: { q, in: inOne, archived } }: Route): string {
  if (from === 'search') return searchAddress({ words: q ?? '', inOne })
  return archived === undefined ? href('chats') : `${href('chats')}?archived=1`
}

function textOf(message: StoredMessage): string | undefined {
  const content = contentOf(message)
  return content?.kind === 'text' ? content.text : undefined
}
