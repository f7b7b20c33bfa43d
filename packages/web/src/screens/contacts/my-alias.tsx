// The user's own alias, to be read, copied, shared or scanned.
import { Avatar } from '../../parts/avatar.tsx'
import { Button } from '../../parts/button.tsx'
import { QrCode } from '../../parts/qr-code.tsx'
import { Screen } from '../../parts/screen.tsx'
import { copyText } from '../../session/clipboard.ts'
import { invitationLink } from '../../session/invitation.ts'
import { attempt, notify } from '../../session/notices.ts'
import { href } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { contactsTexts } from '../../texts/contacts.ts'
import { texts } from '../../texts/texts.ts'

export function MyAlias() {
  const { identity, relayUrl } = useSession()
  const t = texts.value
  const me = identity.value
  if (!me) return null
  const link = invitationLink({ alias: me.aliasId, relayUrl }, document.baseURI)
  const copy = async (text: string): Promise<void> => {
    if (await attempt(() => copyText(text))) notify(t.common.copied)
  }
  const share = async (): Promise<void> => {
    await attempt(async () => {
      try {
        await navigator.share({ url: link })
      } catch (error) {
        // The user closed the browser's dialog, which is no failure.
        if (!(error instanceof DOMException && error.name === 'AbortError')) throw error
      }
    })
  }
  return (
    <Screen title={contactsTexts.value.myAlias} back={href('contacts')}>
      <div class="column">
        <div class="card contacts-person">
          <Avatar name={me.nickname} seed={me.uuid} size="large" />
          <h2>
            <bdi>{me.nickname}</bdi>
          </h2>
          <span class="code">{me.aliasId}</span>
          <QrCode text={link} label={contactsTexts.value.myAlias} />
          <p class="soft small">{contactsTexts.value.myAliasHint}</p>
          <div class="contacts-ways">
            <Button icon="copy" onClick={() => copy(me.aliasId)}>
              {contactsTexts.value.copyAlias}
            </Button>
            <Button icon="link" onClick={() => copy(link)}>
              {contactsTexts.value.copyLink}
            </Button>
            {/* Not every browser can hand a link to other apps. */}
            {'share' in navigator && (
              <Button icon="share" onClick={share}>
                {contactsTexts.value.share}
              </Button>
            )}
          </div>
        </div>
      </div>
    </Screen>
  )
}
