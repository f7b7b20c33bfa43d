// Beside the welcome: somebody was invited, and has no account yet.
import { openedInvitation } from '../../session/opened-invitation.ts'
import { useSession } from '../../session/use-session.ts'
import { texts } from '../../texts/texts.ts'
import { Elsewhere } from './elsewhere.tsx'

export function InvitationNote() {
  const { relayUrl } = useSession()
  const invitation = openedInvitation.value
  if (!invitation) return null
  if (invitation.relayUrl !== relayUrl) return <Elsewhere invitation={invitation} relayUrl={relayUrl} />
  return (
    <p class="banner" role="status">
      {texts.value.invitation.welcome(invitation.alias)}
    </p>
  )
}
