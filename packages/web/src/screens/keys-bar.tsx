// Above every screen: the keys of a contact have changed, and the user has not decided yet.
import { ButtonLink } from '../parts/button.tsx'
import { href, route } from '../session/route.ts'
import { useSession } from '../session/use-session.ts'
import { texts } from '../texts/texts.ts'

export function KeysBar() {
  const { conversations } = useSession()
  const t = texts.value.common
  const [first, ...others] = conversations.value?.filter((each) => each.changedCode !== undefined) ?? []
  const [, opened, part] = route.value.path
  // The page of the code says it itself.
  if (!first || (opened === first.conversationId && part === 'code')) return null
  return (
    <div class="app-bar" data-kind="danger" role="alert">
      <div class="app-bar-text">
        <strong>{t.keysChanged(first.name ?? first.nickname, others.length)}</strong>
        <p>{t.keysChangedShort}</p>
      </div>
      <ButtonLink kind="primary" icon="shield" href={href('contacts', first.conversationId, 'code')}>
        {t.keysChangedLook}
      </ButtonLink>
    </div>
  )
}
