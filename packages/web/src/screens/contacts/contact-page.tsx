// One contact: who it is, the user's own name for it, and what can be done about the contact.
import { useSignal } from '@preact/signals'
import type { FriendProfile } from '@sotto/client'
import { Avatar } from '../../parts/avatar.tsx'
import { Button, ButtonLink } from '../../parts/button.tsx'
import { Icon, type IconName } from '../../parts/icon.tsx'
import { Row } from '../../parts/row.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty, Loading } from '../../parts/state.tsx'
import { copyText } from '../../session/clipboard.ts'
import { now } from '../../session/clock.ts'
import type { ShownConversation } from '../../session/contact-names.ts'
import { attempt, notify } from '../../session/notices.ts'
import { reporting } from '../../session/reporting.ts'
import { goFromHere, href } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { contactsTexts } from '../../texts/contacts.ts'
import { secrecyTexts } from '../../texts/secrecy.ts'
import { texts } from '../../texts/texts.ts'
import { trustTexts } from '../../texts/trust.ts'
import { CallButtons } from '../calls/call-buttons.tsx'
import { placeOf } from '../invitation/invitation-place.ts'
import { ContactDeeds, type Deed } from './contact-deeds.tsx'
import { MuteCard } from './mute-card.tsx'
import { NameForm } from './name-form.tsx'

export function ContactPage({ conversationId }: { readonly conversationId: string }) {
  const { conversations, friends } = useSession()
  const t = contactsTexts.value
  if (!conversations.value) return <Loading />
  const contact = conversations.value.find((each) => each.conversationId === conversationId)
  const friend = friends.value.find((each) => each.conversation_id === conversationId)
  return (
    <Screen title="" back={href('contacts')}>
      {contact ? (
        <Contact contact={contact} friend={friend} />
      ) : (
        <Empty
          icon="contacts"
          title={t.unknown}
          isAlone
          action={<ButtonLink href={href('contacts', 'add')}>{t.add}</ButtonLink>}
        />
      )}
    </Screen>
  )
}

interface ContactProps {
  readonly contact: ShownConversation
  /** Undefined after the friendship has ended. */
  readonly friend: FriendProfile | undefined
}

function Contact({ contact, friend }: ContactProps) {
  const { client, organizer, relayUrl } = useSession()
  const { conversationId, contactId, nickname, profile, isFriend } = contact
  const shownName = contact.name ?? nickname
  const t = texts.value
  const words = contactsTexts.value
  const asked = useSignal<Deed | undefined>(undefined)

  const endFriendship = async (): Promise<void> => {
    if (friend) await client.removeFriend(friend.friendship_id)
  }
  const deeds: Readonly<Record<Deed, { readonly work: () => Promise<void>; readonly done: string }>> = {
    clear: { work: () => organizer.clear(conversationId), done: words.cleared },
    end: { work: endFriendship, done: words.ended(shownName) },
    block: { work: () => client.block(contactId), done: words.isBlocked(shownName) },
    remove: {
      work: async () => {
        const go = goFromHere()
        await endFriendship()
        await organizer.clear(conversationId)
        const decided = { archived: true, name: undefined, pinned: undefined, draft: undefined }
        await organizer.set(conversationId, decided)
        go(href('contacts'))
      },
      done: words.removed(shownName),
    },
  }
  const run = async (deed: Deed): Promise<void> => {
    const { work, done } = deeds[deed]
    if (await attempt(work)) notify(done)
  }
  const copyAlias = async (): Promise<void> => {
    if (await attempt(() => copyText(contactId))) notify(t.common.copied)
  }
  const saveName = async (name: string): Promise<void> => {
    if (await attempt(() => organizer.set(conversationId, { name }))) notify(words.nameSaved)
  }
  return (
    <div class="column">
      <div class="contacts-person">
        <Avatar name={shownName} seed={conversationId} size="large" />
        <h1>
          <bdi>{shownName}</bdi>
        </h1>
        {profile ? (
          <>
            <p class="soft">
              {words.callsItself} <bdi>{profile.name}</bdi>
            </p>
            <p class="soft">
              {words.nicknameAtRelay} <bdi>{profile.nickname}</bdi>
            </p>
          </>
        ) : (
          contact.name !== undefined && (
            <p class="soft">
              <bdi>{nickname}</bdi>
            </p>
          )
        )}
        <span class="code soft">{contactId}</span>
        {profile && <p class="soft small">{words.namesProveNothing}</p>}
        <div class="contacts-ways">
          <ButtonLink kind="primary" icon="chats" href={href('chats', conversationId)}>
            {words.message}
          </ButtonLink>
          {isFriend && <CallButtons conversationId={conversationId} />}
          <Button icon="copy" onClick={copyAlias}>
            {words.copyAlias}
          </Button>
        </div>
        {!isFriend && (
          <>
            <p class="soft">{words.notFriend}</p>
            <ButtonLink href={placeOf({ alias: contactId, relayUrl })}>{words.addAgain}</ButtonLink>
          </>
        )}
      </div>
      <div class="card contacts-card">
        <Row
          lead={<Icon name={iconOf(contact)} />}
          title={trustTexts.value.title}
          detail={
            contact.changedCode !== undefined
              ? trustTexts.value.changed
              : contact.isVerified
                ? trustTexts.value.verified
                : trustTexts.value.unverified
          }
          href={href('contacts', conversationId, 'code')}
        />
        <Row
          lead={<Icon name="lock" />}
          title={secrecyTexts.value.title}
          detail={contact.hasForwardSecrecy ? secrecyTexts.value.has : secrecyTexts.value.hasNot}
          href={href('contacts', conversationId, 'code')}
        />
      </div>
      <NameForm key={contact.name} name={contact.name ?? ''} otherwise={nickname} onSave={saveName} />
      <MuteCard
        mutedUntil={contact.mutedUntil}
        nowMs={now.value}
        onMute={(mutedUntil) => attempt(() => organizer.set(conversationId, { mutedUntil }))}
      />
      <ContactDeeds
        name={shownName}
        isFriend={isFriend}
        asked={asked.value}
        onAsk={(deed) => (asked.value = deed)}
        onConfirm={run}
        onReport={() => (reporting.value = { kind: 'account', name: shownName, aliasId: contactId })}
      />
    </div>
  )
}

function iconOf({ changedCode, isVerified }: ShownConversation): IconName {
  if (changedCode !== undefined) return 'warning'
  return isVerified ? 'shield' : 'key'
}
