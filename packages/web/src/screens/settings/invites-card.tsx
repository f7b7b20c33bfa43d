// The invites of a member, if the operator lets members invite people. Otherwise it shows nothing.
import { useSignal } from '@preact/signals'
import { Invites, inviteLink } from '@sotto/client'
import { Button } from '../../parts/button.tsx'
import { QrCode } from '../../parts/qr-code.tsx'
import { copyText } from '../../session/clipboard.ts'
import { attempt, notify } from '../../session/notices.ts'
import { useLoaded } from '../../session/use-loaded.ts'
import { useSession } from '../../session/use-session.ts'
import { dateAndTime } from '../../texts/dates.ts'
import { invitationTexts } from '../../texts/invitation.ts'
import { texts } from '../../texts/texts.ts'

export function InvitesCard() {
  const { client, relayUrl } = useSession()
  const link = useSignal<string | undefined>(undefined)
  const isBusy = useSignal(false)
  // Without an answer there is nothing to invite with: an older relay does not know invites.
  const { value, reload } = useLoaded(() => new Invites(client).list(), [])
  const open = value?.invites.filter(({ state }) => state === 'open') ?? []
  if (!value || (value.left === 0 && open.length === 0)) return null
  const t = invitationTexts.value
  const make = async (): Promise<void> => {
    isBusy.value = true
    await attempt(async () => {
      const { code } = await new Invites(client).make()
      link.value = inviteLink(code, { relayUrl, app: document.baseURI })
    })
    await reload()
    isBusy.value = false
  }
  const revoke = async (id: string): Promise<void> => {
    if (!(await attempt(() => new Invites(client).revoke(id)))) return
    link.value = undefined
    await reload()
  }
  const copy = async (text: string): Promise<void> => {
    if (await attempt(() => copyText(text))) notify(texts.value.common.copied)
  }
  return (
    <section class="card">
      <h2>{t.makeTitle}</h2>
      <p class="soft">{t.makeText(value.left)}</p>
      {link.value !== undefined && (
        <>
          <QrCode text={link.value} label={t.makeTitle} />
          <p class="code">{link.value}</p>
          <p class="soft small">{t.madeHint}</p>
          <Button icon="copy" onClick={() => copy(link.value ?? '')}>
            {t.copyInvite}
          </Button>
        </>
      )}
      {value.left > 0 && (
        <Button icon="plus" isBusy={isBusy.value} onClick={make}>
          {t.make}
        </Button>
      )}
      {open.map(({ invite_id, expires_at }) => (
        <div key={invite_id} class="settings-invite">
          <span class="soft">{t.openUntil(dateAndTime(Date.parse(expires_at)))}</span>
          <Button kind="quiet" onClick={() => revoke(invite_id)}>
            {t.revoke}
          </Button>
        </div>
      ))}
    </section>
  )
}
