// What can end with a contact: the messages here, the friendship, both; each is asked first.
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { contactsTexts } from '../../texts/contacts.ts'
import { texts } from '../../texts/texts.ts'

export type Deed = 'clear' | 'end' | 'block' | 'remove'

interface ContactDeedsProps {
  readonly name: string
  readonly isFriend: boolean
  /** What is being asked. */
  readonly asked: Deed | undefined
  readonly onAsk: (deed: Deed | undefined) => void
  readonly onConfirm: (deed: Deed) => Promise<void>
  readonly onReport: () => void
}

export function ContactDeeds(props: ContactDeedsProps) {
  const { name, isFriend, asked, onAsk, onConfirm, onReport } = props
  const t = contactsTexts.value
  const questions = {
    clear: { title: t.clearTitle, text: t.clearText, action: t.clear },
    end: { title: t.endTitle(name), text: t.endText, action: t.end },
    block: { title: t.blockTitle(name), text: t.blockText, action: t.block },
    remove: { title: t.removeTitle(name), text: t.removeText, action: t.remove },
  } as const satisfies Record<Deed, unknown>
  return (
    <div class="contacts-deeds">
      <Button kind="quiet" icon="trash" onClick={() => onAsk('clear')}>
        {t.clear}
      </Button>
      {isFriend && (
        <Button kind="quiet" icon="close" onClick={() => onAsk('end')}>
          {t.end}
        </Button>
      )}
      <Button kind="quiet" icon="block" onClick={() => onAsk('block')}>
        {t.block}
      </Button>
      <Button kind="quiet" icon="flag" onClick={onReport}>
        {texts.value.common.report}
      </Button>
      <Button kind="quiet" icon="trash" onClick={() => onAsk('remove')}>
        {t.remove}
      </Button>
      {asked && (
        <Confirm
          {...questions[asked]}
          isDangerous
          onConfirm={() => onConfirm(asked)}
          onClose={() => onAsk(undefined)}
        />
      )}
    </div>
  )
}
