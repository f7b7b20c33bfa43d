// Invites: who may register while the relay takes people by invite.
import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Confirm, Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { Form, SubmitButton } from '../parts/form.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { Empty } from '../parts/state.tsx'
import { copyText } from '../session/clipboard.ts'
import { attempt, notify } from '../session/notices.ts'
import { adminDeedTexts } from '../texts/admin-deeds.ts'
import { dateAndTime, fullTime } from '../texts/dates.ts'
import { texts } from '../texts/texts.ts'
import { Answered } from './answered.tsx'
import type { Invite, MadeInvite } from './answers.ts'
import { explain } from './explain.ts'
import { ask } from './relay-commands.ts'
import { useAnswer } from './use-answer.ts'
import './items.css'

const EVERY_MS = 10_000
const MOST = 1000

export function InvitesPage() {
  const t = adminDeedTexts.value.invites
  const read = useAnswer('invites.list', { input: { limit: MOST }, everyMs: EVERY_MS })
  const [made, show] = useState<MadeInvite | undefined>()
  const [ending, end] = useState<Invite | undefined>()
  const revoke = async ({ id }: Invite): Promise<void> => {
    await ask('invites.revoke', { id }).catch((error) => notify(explain(error), { kind: 'error' }))
    await read.reload()
  }
  return (
    <>
      <p class="soft">{t.hint}</p>
      <MakeForm
        onMade={(invite) => {
          show(invite)
          void read.reload()
        }}
      />
      <section class="admin-section">
        <h2>{t.title}</h2>
        <Answered read={read}>
          {(invites) =>
            invites.length === 0 ? (
              <Empty icon="link" title={t.none} />
            ) : (
              <ul class="items">
                {invites.map((invite) => (
                  <InviteItem key={invite.id} invite={invite} onEnd={() => end(invite)} />
                ))}
              </ul>
            )
          }
        </Answered>
      </section>
      {made && <Made made={made} onClose={() => show(undefined)} />}
      {ending && (
        <Confirm
          title={t.endTitle}
          text={t.endText}
          action={t.endDo}
          isDangerous
          onConfirm={() => revoke(ending)}
          onClose={() => end(undefined)}
        />
      )}
    </>
  )
}

function MakeForm({ onMade }: { readonly onMade: (made: MadeInvite) => void }) {
  const t = adminDeedTexts.value.invites
  const [note, setNote] = useState('')
  const [uses, setUses] = useState('1')
  const [days, setDays] = useState('7')
  const [failure, fail] = useState<unknown>()
  const make = async (): Promise<void> => {
    try {
      const input = { note: note.trim(), uses: Number(uses), days: days.trim() === '' ? null : Number(days) }
      onMade(await ask('invites.make', input))
      setNote('')
      fail(undefined)
    } catch (error) {
      fail(error)
    }
  }
  return (
    <Form class="card invite-form" onSubmit={make}>
      <h2>{t.makeTitle}</h2>
      <TextField
        label={t.note}
        hint={t.noteHint}
        value={note}
        onInput={setNote}
        maxLength={200}
        autocomplete="off"
        error={failure === undefined ? undefined : explain(failure)}
      />
      <div class="invite-numbers">
        <TextField label={t.uses} value={uses} onInput={setUses} inputMode="numeric" required maxLength={6} />
        <TextField
          label={t.days}
          hint={t.daysHint}
          value={days}
          onInput={setDays}
          inputMode="numeric"
          maxLength={4}
        />
      </div>
      <div>
        <SubmitButton kind="primary">{t.make}</SubmitButton>
      </div>
    </Form>
  )
}

/** Shows the link of a new invite. Nobody can show it again. */
function Made({
  made: { code, link },
  onClose,
}: {
  readonly made: MadeInvite
  readonly onClose: () => void
}) {
  const t = adminDeedTexts.value.invites
  const text = link ?? code
  const copy = async (): Promise<void> => {
    await copyText(text)
    notify(texts.value.common.copied)
  }
  return (
    <Dialog
      title={t.madeTitle}
      onClose={onClose}
      isModal
      actions={
        <>
          <Button icon="copy" onClick={() => void attempt(copy)}>
            {texts.value.common.copy}
          </Button>
          <Button kind="primary" onClick={onClose}>
            {texts.value.common.done}
          </Button>
        </>
      }
    >
      <p>{t.madeText}</p>
      <QrCode text={text} label={t.qr} />
      <p class="code">{text}</p>
    </Dialog>
  )
}

function InviteItem({ invite, onEnd }: { readonly invite: Invite; readonly onEnd: () => void }) {
  const t = adminDeedTexts.value.invites
  const { id, note, made_by, uses, used, created_at, expires_at, state } = invite
  return (
    <li class="item">
      <span class="item-main">
        {note === '' ? <bdi class="code">{id}</bdi> : <bdi>{note}</bdi>}
        <span class="soft small">
          {dateAndTime(Date.parse(created_at))}
          {made_by !== null && (
            <>
              {' · '}
              <bdi class="code">{made_by}</bdi>
            </>
          )}
          {expires_at !== null && ` · ${t.until(fullTime(Date.parse(expires_at)))}`}
        </span>
      </span>
      <span class="item-end">
        <span class="number">{t.used(used, uses)}</span>
        <span class="mark" data-kind={state === 'open' ? 'good' : undefined}>
          {t.states[state]}
        </span>
        {state === 'open' && <Button onClick={onEnd}>{t.endDo}</Button>}
      </span>
    </li>
  )
}
