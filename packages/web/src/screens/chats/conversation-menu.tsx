// What can be done with a conversation, in the list and in its own header.
import type { Conversation } from '@sotto/client'
import type { Place } from '../../parts/menu-place.ts'
import { type MenuItem, OpenMenu } from '../../parts/open-menu.tsx'
import { attempt, notify } from '../../session/notices.ts'
import { reporting } from '../../session/reporting.ts'
import { go } from '../../session/route.ts'
import type { Session } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { searchAddress } from '../search/search-address.ts'

const MUTED_MS = 8 * 3_600_000
/** Muted until it is taken back: as far as dates reach. */
const FOREVER_MS = 8.64e15

interface ConversationMenuProps {
  readonly session: Session
  readonly conversation: Conversation
  readonly place: Place
  readonly nowMs: number
  /** Begins to select messages. Only for the conversation that is open. */
  readonly onSelect?: () => void
  readonly onClear: () => void
  readonly onClose: () => void
}

export function ConversationMenu(props: ConversationMenuProps) {
  const { session, conversation, place, nowMs, onSelect, onClear, onClose } = props
  const { conversationId, contactId: aliasId, name, nickname } = conversation
  const report = (): void => {
    reporting.value = { kind: 'account', name: name ?? nickname, aliasId }
  }
  const t = texts.value.chats
  const inOpen: readonly MenuItem[] = onSelect
    ? [
        {
          label: t.searchHere,
          icon: 'search',
          onClick: () => go(searchAddress({ words: '', inOne: conversationId })),
        },
        { label: t.selectMessages, icon: 'check', onClick: onSelect },
      ]
    : []
  const items = [
    ...inOpen,
    ...itemsOf(session, conversation, nowMs),
    { label: t.clear, icon: 'trash', onClick: onClear, isDangerous: true } as const,
    { label: texts.value.common.report, icon: 'flag', onClick: report, isDangerous: true } as const,
  ]
  return <OpenMenu label={t.actions(name ?? nickname)} place={place} items={items} onClose={onClose} />
}

/** The actions for a conversation as it is now. */
function itemsOf(
  { organizer, client }: Session,
  conversation: Conversation,
  nowMs: number,
): readonly (MenuItem | false)[] {
  const t = texts.value.chats
  const { conversationId, pinned, archived, mutedUntil, unread, markedUnread } = conversation
  const decide = (decisions: Parameters<typeof organizer.set>[1]): Promise<boolean> =>
    attempt(() => organizer.set(conversationId, decisions))
  const archive = async (): Promise<void> => {
    if (!(await decide({ archived: true }))) return
    const undo = (): void => void decide({ archived: undefined })
    notify(t.archivedNow, { action: { label: texts.value.common.undo, run: undo } })
  }
  const isMuted = (mutedUntil ?? 0) > nowMs
  const isUnread = unread > 0 || markedUnread === true
  return [
    pinned === undefined
      ? { label: t.pin, icon: 'pin', onClick: () => void decide({ pinned: nowMs }) }
      : { label: t.unpin, icon: 'pin', onClick: () => void decide({ pinned: undefined }) },
    isMuted && { label: t.unmute, icon: 'bell', onClick: () => void decide({ mutedUntil: undefined }) },
    !isMuted && {
      label: t.muteHours,
      icon: 'bellOff',
      onClick: () => void decide({ mutedUntil: nowMs + MUTED_MS }),
    },
    !isMuted && { label: t.mute, icon: 'bellOff', onClick: () => void decide({ mutedUntil: FOREVER_MS }) },
    isUnread
      ? {
          label: t.markRead,
          icon: 'check',
          onClick: () =>
            void attempt(async () => {
              if (markedUnread) await organizer.set(conversationId, { markedUnread: undefined })
              if (unread > 0) await client.markRead(conversationId)
            }),
        }
      : { label: t.markUnread, icon: 'unread', onClick: () => void decide({ markedUnread: true }) },
    archived
      ? { label: t.unarchive, icon: 'archive', onClick: () => void decide({ archived: undefined }) }
      : { label: t.archive, icon: 'archive', onClick: () => void archive() },
  ]
}
