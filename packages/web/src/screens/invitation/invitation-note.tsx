// Beside the welcome: somebody was invited, and has no account yet.
import { readInvite } from '@sotto/client'
import { invitationLink } from '../../session/invitation.ts'
import { openedInvitation } from '../../session/opened-invitation.ts'
import { route } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { invitationTexts } from '../../texts/invitation.ts'
import { Elsewhere } from './elsewhere.tsx'

export function InvitationNote() {
  const { relayUrl } = useSession()
  const t = invitationTexts.value
  const invitation = openedInvitation.value
  const invite = route.value.path[0] === 'invite' ? readInvite(location.href) : undefined
  const theirs = invitation?.relayUrl ?? invite?.relayUrl
  if (theirs !== undefined && theirs !== relayUrl) {
    const app = `${theirs}/`
    const link = invitation ? invitationLink(invitation, app) : `${app}#/invite/${invite?.code}`
    return <Elsewhere theirs={theirs} link={link} relayUrl={relayUrl} />
  }
  if (!invitation && route.value.path[0] === 'add') return null
  const text = invitation ? t.invited(invitation.alias) : invite ? t.inviteGiven : t.inviteBroken
  return (
    <p class="banner" role="status">
      {text}
    </p>
  )
}
