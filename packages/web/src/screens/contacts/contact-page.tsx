// One contact.
import { Avatar } from '../../parts/avatar.tsx'
import { ButtonLink } from '../../parts/button.tsx'
import { Screen } from '../../parts/screen.tsx'
import { Empty } from '../../parts/state.tsx'
import { href } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { texts } from '../../texts/texts.ts'
import { CallButtons } from '../calls/call-buttons.tsx'

export function ContactPage({ conversationId }: { readonly conversationId: string }) {
  const { conversations } = useSession()
  const t = texts.value.contacts
  const contact = conversations.value?.find((each) => each.conversationId === conversationId)
  return (
    <Screen title="" back={href('contacts')}>
      {contact ? (
        <div class="column">
          <div class="contacts-person">
            <Avatar name={contact.name ?? contact.nickname} seed={conversationId} size="large" />
            <h1>
              <bdi>{contact.name ?? contact.nickname}</bdi>
            </h1>
            <span class="code soft">{contact.contactId}</span>
            <ButtonLink kind="primary" icon="chats" href={href('chats', conversationId)}>
              {t.message}
            </ButtonLink>
            {contact.isFriend && <CallButtons conversationId={conversationId} />}
          </div>
        </div>
      ) : (
        <Empty icon="contacts" title={t.unknown} />
      )}
    </Screen>
  )
}
