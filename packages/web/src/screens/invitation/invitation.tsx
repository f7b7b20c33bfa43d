// An invitation link: says who is meant, and asks before anything is sent.
import { useSignal } from '@preact/signals'
import type { UserLookup } from '@sotto/client'
import { useEffect } from 'preact/hooks'
import { Button, ButtonLink } from '../../parts/button.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty, Loading } from '../../parts/state.tsx'
import type { Invitation as Opened } from '../../session/invitation.ts'
import { openedInvitation } from '../../session/opened-invitation.ts'
import { href } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { explain } from '../../texts/explain.ts'
import { texts } from '../../texts/texts.ts'
import { useBefriending } from '../contacts/befriending.ts'
import { PersonCard } from '../contacts/person-card.tsx'
import { Elsewhere } from './elsewhere.tsx'
import '../contacts/contacts.css'

export function Invitation() {
  const { relayUrl, identity } = useSession()
  const t = texts.value
  const invitation = openedInvitation.value
  return (
    <Screen title={t.invitation.title} back={href('contacts')}>
      {!invitation ? (
        <Empty
          icon="link"
          title={t.invitation.broken}
          action={<ButtonLink href={href('contacts', 'add')}>{t.contacts.add}</ButtonLink>}
        >
          {t.invitation.brokenHint}
        </Empty>
      ) : invitation.relayUrl !== relayUrl ? (
        <Elsewhere invitation={invitation} relayUrl={relayUrl} />
      ) : invitation.alias === identity.value?.aliasId ? (
        <Empty
          icon="link"
          title={t.invitation.own}
          action={<ButtonLink href={href('contacts', 'me')}>{t.contacts.myAlias}</ButtonLink>}
        >
          {t.invitation.ownHint}
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
  const t = texts.value
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
        title={t.invitation.failed}
        action={<Button onClick={ask}>{t.common.tryAgain}</Button>}
      >
        {explain(answer.value.error)}
      </Empty>
    )
  const { user } = answer.value
  if (!user)
    return (
      <Empty
        icon="link"
        title={t.contacts.nobody}
        action={<ButtonLink href={href('contacts', 'add')}>{t.contacts.add}</ButtonLink>}
      >
        {t.invitation.brokenHint}
      </Empty>
    )
  return (
    <div class="column">
      <p class="soft">{t.invitation.text}</p>
      <PersonCard
        user={user}
        friend={friendOf(user)}
        isBusy={isBusy.value}
        onRequest={() => request(user)}
        onAccept={accept}
      >
        <ButtonLink kind="quiet" href={href('chats')}>
          {t.invitation.notNow}
        </ButtonLink>
      </PersonCard>
    </div>
  )
}
