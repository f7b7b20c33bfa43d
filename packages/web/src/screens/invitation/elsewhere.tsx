// An invitation of another relay than the one in use: says which, and leads there.
import { Icon } from '../../parts/icon.tsx'
import { invitationTexts } from '../../texts/invitation.ts'

interface ElsewhereProps {
  /** The relay of the invitation, and the link for the app there. */
  readonly theirs: string
  readonly link: string
  /** The relay in use. */
  readonly relayUrl: string
}

export function Elsewhere({ theirs, link, relayUrl }: ElsewhereProps) {
  const t = invitationTexts.value
  return (
    <div class="column">
      <div class="card">
        <h2>{t.elsewhere}</h2>
        <p>{t.elsewhereText}</p>
        <p class="code">{theirs}</p>
        <p class="code">{relayUrl}</p>
        {/* Where it leads is written above. That page learns nothing of this one. */}
        <a class="button button-plain" href={link} target="_blank" rel="noopener noreferrer">
          <Icon name="link" />
          <span>{t.openThere}</span>
        </a>
      </div>
    </div>
  )
}
