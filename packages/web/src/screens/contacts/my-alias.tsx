// The user's own alias, to be read, copied or scanned.
import { Avatar } from '../../parts/avatar.tsx'
import { Button } from '../../parts/button.tsx'
import { QrCode } from '../../parts/qr-code.tsx'
import { Screen } from '../../parts/screen.tsx'
import { copyText } from '../../session/clipboard.ts'
import { attempt, notify } from '../../session/notices.ts'
import { href } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { texts } from '../../texts/texts.ts'

export function MyAlias() {
  const { identity } = useSession()
  const t = texts.value
  const me = identity.value
  if (!me) return null
  const copy = async (): Promise<void> => {
    if (await attempt(() => copyText(me.aliasId))) notify(t.common.copied)
  }
  return (
    <Screen title={t.contacts.myAlias} back={href('contacts')}>
      <div class="column">
        <div class="card contacts-person">
          <Avatar name={me.nickname} seed={me.uuid} size="large" />
          <h2>
            <bdi>{me.nickname}</bdi>
          </h2>
          <span class="code">{me.aliasId}</span>
          <QrCode text={invitationTo(me.aliasId)} label={t.contacts.myAlias} />
          <Button icon="copy" onClick={copy}>
            {t.common.copy}
          </Button>
        </div>
      </div>
    </Screen>
  )
}

/** A link that opens the app and asks whether to add this alias. No server is told what is after `#`. */
function invitationTo(aliasId: string): string {
  return new URL(href('add', aliasId), document.baseURI).href
}
