// An invitation of another relay than the one in use: says which, and leads there.
import { Icon } from '../../parts/icon.tsx'
import { type Invitation, invitationLink } from '../../session/invitation.ts'
import { texts } from '../../texts/texts.ts'

interface ElsewhereProps {
  readonly invitation: Invitation
  /** The relay in use. */
  readonly relayUrl: string
}

export function Elsewhere({ invitation, relayUrl }: ElsewhereProps) {
  const t = texts.value.invitation
  return (
    <div class="column">
      <div class="card">
        <h2>{t.elsewhere}</h2>
        <p>{t.elsewhereText}</p>
        <p class="code">{invitation.relayUrl}</p>
        <p class="code">{relayUrl}</p>
        {/* Where it leads is written above. That page learns nothing of this one. */}
        <a
          class="button button-plain"
          href={invitationLink(invitation, `${invitation.relayUrl}/`)}
          target="_blank"
          rel="noopener noreferrer"
        >
          <Icon name="link" />
          <span>{t.openThere}</span>
        </a>
      </div>
    </div>
  )
}
