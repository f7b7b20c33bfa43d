// Chooses the conversations that messages are forwarded to.
import { useState } from 'preact/hooks'
import { Avatar } from '../../parts/avatar.tsx'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import type { ShownConversation } from '../../session/contact-names.ts'
import { dialogsTexts } from '../../texts/dialogs.ts'
import { texts } from '../../texts/texts.ts'
import './forward-dialog.css'

/** So many rows are drawn; more are found by their name. */
const MAX_ROWS = 50

interface ForwardDialogProps {
  readonly conversations: readonly ShownConversation[]
  readonly onForward: (conversations: readonly ShownConversation[]) => void
  readonly onClose: () => void
}

export function ForwardDialog({ conversations, onForward, onClose }: ForwardDialogProps) {
  const [wanted, setWanted] = useState('')
  const [chosen, choose] = useState<readonly ShownConversation[]>([])
  const t = texts.value.conversation
  const words = wanted.trim().toLocaleLowerCase()
  const found = conversations.filter(
    ({ isFriend, name = '', nickname, profile }) =>
      isFriend && [name, nickname, profile?.nickname ?? ''].join('\n').toLocaleLowerCase().includes(words),
  )
  const isChosen = ({ conversationId }: ShownConversation): boolean =>
    chosen.some((each) => each.conversationId === conversationId)
  const toggle = (conversation: ShownConversation): void =>
    choose(
      isChosen(conversation)
        ? chosen.filter((each) => each.conversationId !== conversation.conversationId)
        : [...chosen, conversation],
    )
  return (
    <Dialog
      title={dialogsTexts.value.forwardTo}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{texts.value.common.cancel}</Button>
          <Button
            kind="primary"
            icon="forward"
            isDisabled={chosen.length === 0}
            onClick={() => onForward(chosen)}
          >
            {t.forward}
          </Button>
        </>
      }
    >
      <TextField
        label={dialogsTexts.value.findContact}
        value={wanted}
        onInput={setWanted}
        autocomplete="off"
      />
      <ul class="forward-list">
        {found.slice(0, MAX_ROWS).map((conversation) => {
          const { conversationId, name, nickname } = conversation
          return (
            <li key={conversationId}>
              <label class="forward-row">
                <input
                  type="checkbox"
                  checked={isChosen(conversation)}
                  onChange={() => toggle(conversation)}
                />
                <Avatar name={name ?? nickname} seed={conversationId} size="small" />
                <bdi class="one-line">{name ?? nickname}</bdi>
              </label>
            </li>
          )
        })}
      </ul>
      {found.length === 0 && <p class="soft">{dialogsTexts.value.nobodyFound}</p>}
    </Dialog>
  )
}
