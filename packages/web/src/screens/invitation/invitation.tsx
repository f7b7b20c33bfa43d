// An invitation link: says who is meant, and asks before anything is sent.
import { useSignal } from '@preact/signals'
import type { UserLookup } from '@sotto/client'
import { useEffect } from 'preact/hooks'
import { Button, ButtonLink } from '../../parts/button.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty, Loading } from '../../parts/state.tsx'
import { invitationLink, type Invitation as Opened } from '../../session/invitation.ts'
import { openedInvitation } from '../../session/opened-invitation.ts'
import { href, route } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { contactsTexts } from '../../texts/contacts.ts'
import { explain } from '../../texts/explain.ts'
import { invitationTexts } from '../../texts/invitation.ts'
import { texts } from '../../texts/texts.ts'
import { useBefriending } from '../contacts/befriending.ts'
import { PersonCard } from '../contacts/person-card.tsx'
import { Elsewhere } from './elsewhere.tsx'
import '../contacts/contacts.css'

export function Invitation() {
  const { relayUrl, identity } = useSession()
  const t = invitationTexts.value
  const invitation = openedInvitation.value
  return (
    <Screen title={t.title} back={href('contacts')}>
      {route.value.path[0] === 'invite' ? (
        <Empty
          icon="link"
          title={t.joined}
          action={<ButtonLink href={href('chats')}>{texts.value.common.chats}</ButtonLink>}
        >
          {t.joinedHint}
        </Empty>
      ) : !invitation ? (
        <Empty
          icon="link"
          title={t.broken}
          action={<ButtonLink href={href('contacts', 'add')}>{contactsTexts.value.add}</ButtonLink>}
        >
          {t.brokenHint}
        </Empty>
      ) : invitation.relayUrl !== relayUrl ? (
        <Elsewhere
          theirs={invitation.relayUrl}
          link={invitationLink(invitation, `${invitation.relayUrl}/`)}
          relayUrl={relayUrl}
        />
      ) : invitation.alias === identity.value?.aliasId ? (
        <Empty
          icon="link"
          title={t.own}
          action={<ButtonLink href={href('contacts', 'me')}>{contactsTexts.value.myAlias}</ButtonLink>}
        >
          {t.ownHint}
        </Empty>
      ) : (
        <Question key={invitation.alias} invitation={invitation} />
      )}
    </Screen>
  )
}

type Answer = { readonly user: UserLookup | undefined } | { readonly error: unknown }

function Question({ invitation }: { readonly invitation: Opened }) {
  const { isBusy, lookUp, friendOf, request, accept } = useBefriending()
  const answer = useSignal<Answer | undefined>(undefined)
  const t = invitationTexts.value
  const ask = (): void => {
    answer.value = undefined
    lookUp(invitation.alias).then(
      (user) => (answer.value = { user }),
      (error: unknown) => (answer.value = { error }),
    )
  }
  useEffect(ask, [])
  if (!answer.value) return <Loading />
  if ('error' in answer.value)
    return (
      <Empty
        icon="warning"
        title={t.failed}
        action={<Button onClick={ask}>{texts.value.common.tryAgain}</Button>}
      >
        {explain(answer.value.error)}
      </Empty>
    )
  const { user } = answer.value
  if (!user)
    return (
      <Empty
        icon="link"
        title={contactsTexts.value.nobody}
        action={<ButtonLink href={href('contacts', 'add')}>{contactsTexts.value.add}</ButtonLink>}
      >
        {t.brokenHint}
      </Empty>
    )
  return (
    <div class="column">
      <p class="soft">{t.text}</p>
      <PersonCard
        user={user}
        friend={friendOf(user)}
        isBusy={isBusy.value}
        onRequest={() => request(user)}
        onAccept={accept}
      >
        <ButtonLink kind="quiet" href={href('chats')}>
          {t.notNow}
        </ButtonLink>
      </PersonCard>
    </div>
  )
}
