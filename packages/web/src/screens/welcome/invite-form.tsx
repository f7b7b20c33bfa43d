// Asks for an invite to a relay that takes new accounts only with one, or says that it takes none.
import { type Signal, useSignal } from '@preact/signals'
import { readInvite } from '@sotto/client'
import { Button } from '../../parts/button.tsx'
import { useFirstFocus } from '../../parts/focus.ts'
import { SubmitButton } from '../../parts/form.tsx'
import { invitationTexts } from '../../texts/invitation.ts'
import { texts } from '../../texts/texts.ts'
import { CodeForm } from './code-form.tsx'

interface InviteFormProps {
  /** Takes the code of the invite. */
  readonly invite: Signal<string>
  /** Why it is asked for: how the relay takes new accounts, or its code for a refusal. */
  readonly why: string
  readonly onBack: () => void
  readonly onDone: () => void
}

export function InviteForm(props: InviteFormProps) {
  const isClosed = props.why === 'closed' || props.why === 'REGISTRATION_CLOSED'
  return isClosed ? <Closed onBack={props.onBack} /> : <Asked {...props} />
}

function Closed({ onBack }: Pick<InviteFormProps, 'onBack'>) {
  const t = invitationTexts.value
  const heading = useFirstFocus<HTMLHeadingElement>()
  return (
    <main class="welcome">
      <h1 ref={heading} tabIndex={-1}>
        {t.closedTitle}
      </h1>
      <p class="soft">{t.closedText}</p>
      <Button onClick={onBack}>{texts.value.common.back}</Button>
    </main>
  )
}

function Asked({ invite, why, onBack, onDone }: InviteFormProps) {
  const t = invitationTexts.value
  const typed = useSignal('')
  const error = useSignal(why === 'INVITE_INVALID' ? t.inviteRefused : undefined)
  const submit = (): void => {
    const read = readInvite(typed.value)
    if (!read) {
      error.value = t.inviteWrong
      return
    }
    invite.value = read.code
    onDone()
  }
  return (
    <main class="welcome">
      <h1>{t.inviteTitle}</h1>
      <p class="soft">{t.inviteText}</p>
      <CodeForm
        label={t.inviteLabel}
        typed={typed}
        error={error}
        autoFocus
        autocomplete="off"
        onSubmit={submit}
      >
        <div class="welcome-buttons">
          <Button onClick={onBack}>{texts.value.common.back}</Button>
          <SubmitButton kind="primary">{texts.value.welcome.goOn}</SubmitButton>
        </div>
      </CodeForm>
    </main>
  )
}
