// Chooses the conversation that a message is forwarded to.
import type { Conversation } from '@sotto/client'
import { useState } from 'preact/hooks'
import { Avatar } from '../../parts/avatar.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { Row } from '../../parts/row.tsx'
import { texts } from '../../texts/texts.ts'

/** So many rows are drawn; more are found by their name. */
const MAX_ROWS = 50

interface ForwardDialogProps {
  readonly conversations: readonly Conversation[]
  readonly onChoose: (conversation: Conversation) => void
  readonly onClose: () => void
}

export function ForwardDialog({ conversations, onChoose, onClose }: ForwardDialogProps) {
  const [wanted, setWanted] = useState('')
  const t = texts.value.conversation
  const words = wanted.trim().toLocaleLowerCase()
  const found = conversations.filter(
    ({ isFriend, name, nickname }) =>
      isFriend && `${name ?? ''} ${nickname}`.toLocaleLowerCase().includes(words),
  )
  return (
    <Dialog title={t.forwardTo} onClose={onClose}>
      <TextField label={t.findContact} value={wanted} onInput={setWanted} autocomplete="off" />
      <ul class="forward-list">
        {found.slice(0, MAX_ROWS).map((conversation) => {
          const { conversationId, name, nickname } = conversation
          return (
            <li key={conversationId}>
              <Row
                lead={<Avatar name={name ?? nickname} seed={conversationId} size="small" />}
                title={<bdi>{name ?? nickname}</bdi>}
                onClick={() => onChoose(conversation)}
              />
            </li>
          )
        })}
      </ul>
      {found.length === 0 && <p class="soft">{t.nobodyFound}</p>}
    </Dialog>
  )
}
