// One conversation in the list, at its place, with the button that opens its menu.
import { IconButton } from '../../parts/button.tsx'
import { useContextMenu } from '../../parts/context-menu.ts'
import type { Place } from '../../parts/menu-place.ts'
import { texts } from '../../texts/texts.ts'
import { ConversationRow, type ConversationRowProps } from './conversation-row.tsx'

interface ConversationItemProps extends ConversationRowProps {
  readonly index: number
  /** How many conversations the list has. */
  readonly count: number
  /** Where it begins in the list, in pixels. */
  readonly startPx: number
  readonly onMenu: (place: Place) => void
}

export function ConversationItem({ index, count, startPx, onMenu, ...row }: ConversationItemProps) {
  const { name, nickname } = row.conversation
  const contextMenu = useContextMenu(({ element, point }) =>
    onMenu({ element: element.querySelector('a') ?? element, point }),
  )
  return (
    <li
      class="chats-item"
      data-index={index}
      style={{ transform: `translateY(${startPx}px)` }}
      aria-setsize={count}
      aria-posinset={index + 1}
      {...contextMenu}
    >
      <ConversationRow {...row} />
      <span class="chats-more">
        <IconButton
          icon="more"
          label={texts.value.chats.actions(name ?? nickname)}
          onClick={({ currentTarget }) => {
            if (currentTarget instanceof HTMLElement) onMenu({ element: currentTarget })
          }}
        />
      </span>
    </li>
  )
}
