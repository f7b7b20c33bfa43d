// One conversation: its messages, what can be done with them, and the field to write in.
import { useSignal } from '@preact/signals'
import { type Conversation as ConversationInfo, contentOf, type StoredMessage } from '@sotto/client'
import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { lazy } from '../../parts/lazy.tsx'
import { MenuButton } from '../../parts/menu-button.tsx'
import type { Place } from '../../parts/menu-place.ts'
import { Screen } from '../../parts/screen.tsx'
import { Empty, Loading, useNoticed } from '../../parts/state.tsx'
import { TitleLink } from '../../parts/title-link.tsx'
import { copyText } from '../../session/clipboard.ts'
import { now } from '../../session/clock.ts'
import { attempt, notify, notifyError } from '../../session/notices.ts'
import { href, route } from '../../session/route.ts'
import type { Route } from '../../session/route-of.ts'
import { useSession } from '../../session/use-session.ts'
import { texts } from '../../texts/texts.ts'
import { CallButtons } from '../calls/call-buttons.tsx'
import { MissedCall } from '../calls/missed-call.tsx'
import { searchAddress } from '../search/search-address.ts'
import { Attach, Voice } from './besides-text.tsx'
import type { BubbleActions } from './bubble-actions.ts'
import { Composer } from './composer.tsx'
import type { OpenDialog } from './conversation-dialog.tsx'
import { keyOf } from './grouping.ts'
import { MessageList } from './message-list.tsx'
import type { MessageActions } from './message-menu.tsx'
import type { MessagePages } from './message-pages.ts'
import { startOf, takeOpening } from './opening.ts'
import { useReading } from './reading.ts'
import { isHidden, removeSoon } from './removals.ts'
import { SelectionBar, SelectionTitle } from './selection-bar.tsx'
import { useChanges } from './use-changes.ts'
import { useReply } from './use-reply.ts'
import { useSelection } from './use-selection.ts'
import './conversation.css'

const ConversationDialog = lazy(
  async () => (await import('./conversation-dialog.tsx')).ConversationDialog,
  () => null,
)

const RenewedKeys = lazy(
  async () => (await import('./renewed-keys.tsx')).RenewedKeys,
  () => null,
)

const SecrecyNote = lazy(
  async () => (await import('./secrecy-note.tsx')).SecrecyNote,
  () => null,
)

const ConversationMenu = lazy(
  async () => (await import('../chats/conversation-menu.tsx')).ConversationMenu,
  () => null,
)
const EditForm = lazy(
  async () => (await import('./edit-form.tsx')).EditForm,
  () => null,
)
const MessageMenu = lazy(
  async () => (await import('./message-menu.tsx')).MessageMenu,
  () => null,
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
        <Empty icon="chats" title={t.conversation.unknown} isAlone />
      </Screen>
    )
  return <ReadConversation key={id} conversation={conversation} />
}

/** Reads the messages. All is drawn at once when they are there, unless somebody would notice the wait. */
function ReadConversation({ conversation }: { readonly conversation: ConversationInfo }) {
  const session = useSession()
  const { conversationId, firstUnreadSeq } = conversation
  const opening = useMemo(
    () => takeOpening(session, conversationId, startOf(Number(route.value.query.at), firstUnreadSeq)),
    [],
  )
  useEffect(() => opening.stop, [])
  const isNoticed = useNoticed()
  if (!opening.pages.list.value && !isNoticed) return <Loading />
  return <OpenConversation conversation={conversation} pages={opening.pages} />
}

interface OpenConversationProps {
  readonly conversation: ConversationInfo
  readonly pages: MessagePages
}

function OpenConversation({ conversation, pages }: OpenConversationProps) {
  const session = useSession()
  const { client, organizer, replies } = session
  const { conversationId, name, nickname, isFriend, lastMessage } = conversation
  const shownName = name ?? nickname
  const t = texts.value
  const words = t.conversation
  const reading = useReading(session, conversation)
  const revision = useSignal(0)
  const [menu, setMenu] = useState<{ readonly message: StoredMessage; readonly place: Place }>()
  const [dialog, setDialog] = useState<OpenDialog>()
  const wanted = Number(route.value.query.at)

  useEffect(() => {
    if (wanted > 0) pages.show({ seq: wanted })
  }, [route.value])
  useLayoutEffect(() => {
    const findAgain = (message: StoredMessage): void => {
      if (message.conversationId === conversationId) revision.value += 1
    }
    const stops = [client.on('retracted', findAgain), client.on('edited', findAgain)]
    return () => {
      for (const stop of stops) stop()
    }
  }, [])
  const list = pages.list.value?.filter((message) => !isHidden(message))
  const selection = useSelection(list)
  const reply = useReply(conversation, replies, list)
  const changes = useChanges(session, conversation)
  const remove = (messages: readonly StoredMessage[]): void => {
    for (const each of messages) changes.endEdit(each)
    removeSoon(organizer, messages, { done: words.removed(messages.length), undo: t.common.undo })
    selection.end()
  }
  const copy = async (text: string): Promise<void> => {
    if (await attempt(() => copyText(text))) notify(t.common.copied)
    selection.end()
  }
  const copyChosen = (): Promise<boolean> =>
    attempt(async () => copy((await import('./transcript.ts')).transcriptOf(chosen, shownName, t)))
  const copyPictureOf = (message: StoredMessage): Promise<boolean> =>
    attempt(async () => (await import('./media/copy-picture.ts')).copyPicture(client, message))
  const bubbleActions: BubbleActions = useMemo(
    () => ({
      onMenu: (message, place) => setMenu({ message, place }),
      onReply: (message) => (reply.message.value = message),
      onReact: changes.react,
      canReact: changes.canReact,
      onOriginal: ({ seq }) => seq !== undefined && pages.show({ seq }),
      onSelect: selection.toggle,
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
    onReact: changes.react,
    onReactOtherwise: (message) => setDialog({ kind: 'react', message }),
    onEdit: changes.edit,
    onCopy: copy,
    onCopyPicture: copyPictureOf,
    onForward: (message) => setDialog({ kind: 'forward', messages: [message] }),
    onDetails: (message) => setDialog({ kind: 'details', message }),
    onSelect: selection.toggle,
    onResend: ({ id }) =>
      attempt(async () => (await session.later()).unsent.resend(conversationId, id)).then(() =>
        pages.show('end'),
      ),
    onDrop: ({ id }) => attempt(async () => (await session.later()).unsent.drop(conversationId, id)),
    onRetract: (message) => setDialog({ kind: 'retract', message }),
    onRemove: (message) => remove([message]),
  }
  const chosen = selection.messages
  const edited = changes.edited.value
  const forwardable = chosen.filter((message) => contentOf(message) !== undefined)
  const missed = session.missedCalls.value.find((call) => call.conversationId === conversationId)
  const isSelecting = selection.keys.value !== undefined
  return (
    <Screen
      {...(isSelecting ? {} : { back: backFrom(route.value) })}
      isFixed
      top={
        <>
          {conversation.renewedAt !== undefined && <RenewedKeys conversationId={conversationId} />}
          {(conversation.hasForwardSecrecy || conversation.isLowered) && (
            <SecrecyNote conversationId={conversationId} name={shownName} />
          )}
          {missed && <MissedCall call={missed} nowMs={now.value} />}
        </>
      }
      title={
        isSelecting ? (
          <SelectionTitle count={chosen.length} onEnd={selection.end} />
        ) : (
          <TitleLink
            href={href('contacts', conversationId)}
            name={shownName}
            seed={conversationId}
            detail={session.typing.value.has(conversationId) && t.chats.typing}
          />
        )
      }
      actions={
        isSelecting ? (
          <SelectionBar
            count={chosen.length}
            onCopy={copyChosen}
            onForward={() => setDialog({ kind: 'forward', messages: forwardable })}
            onRemove={() => remove(chosen)}
          />
        ) : (
          <>
            {isFriend && <CallButtons conversationId={conversationId} />}
            <MenuButton label={t.chats.actions(shownName)}>
              {(place, onClose) => (
                <ConversationMenu
                  session={session}
                  conversation={conversation}
                  place={place}
                  nowMs={now.value}
                  onSelect={selection.begin}
                  onClear={() => setDialog({ kind: 'clear' })}
                  onClose={onClose}
                />
              )}
            </MenuButton>
          </>
        )
      }
      bottom={
        isFriend ? (
          <>
            {edited && (
              <EditForm key={keyOf(edited)} message={edited} onEnd={() => changes.endEdit(edited)} />
            )}
            <Composer
              conversation={conversation}
              name={shownName}
              replyTo={reply.message}
              onReplyStep={reply.step}
              onEditLast={() => !pages.hasLater.value && changes.editLastOf(list ?? [])}
              isAside={edited !== undefined}
              isFocused={!(wanted > 0)}
              attachments={<Attach conversationId={conversationId} takeReply={reply.take} />}
              voice={(isEmpty) => (
                <Voice conversationId={conversationId} takeReply={reply.take} isOffered={isEmpty} />
              )}
              onSend={(message) => {
                reading.forgetLine()
                if (lastMessage) pages.begin({ ...message, conversationId: lastMessage.conversationId })
                else pages.show('end')
              }}
              onRefused={(id) => pages.withdraw(id)}
            />
          </>
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
          lastSeq={lastMessage?.seq}
          unreadSeq={reading.unreadSeq}
          newCount={reading.newCount}
          selected={selection.keys}
          actions={bubbleActions}
          onEndSeen={reading.onEndSeen}
        />
      )}
      {menu && (
        <MessageMenu
          key={`${keyOf(menu.message)}`}
          message={menu.message}
          place={menu.place}
          actions={messageActions}
          conversation={conversation}
          onClose={() => setMenu(undefined)}
        />
      )}
      {dialog && (
        <ConversationDialog
          dialog={dialog}
          name={shownName}
          isVerified={conversation.isVerified}
          conversations={session.conversations.value ?? []}
          onForward={(messages, to) => {
            setDialog(undefined)
            selection.end()
            void attempt(async () => (await import('./forwarding.ts')).forward(session, messages, to))
          }}
          onReact={changes.react}
          onClear={() => attempt(() => organizer.clear(conversationId))}
          onRetract={({ id }) => attempt(() => client.retract(conversationId, id))}
          onClose={() => setDialog(undefined)}
        />
      )}
    </Screen>
  )
}

/** Where the back button leads: to the results or to the archive, if one came from there. */
function backFrom({ path: [from], query: { q, in: inOne, archived } }: Route): string {
  if (from === 'search') return searchAddress({ words: q ?? '', inOne })
  return archived === undefined ? href('chats') : `${href('chats')}?archived=1`
}
