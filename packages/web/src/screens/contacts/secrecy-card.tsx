// Whether a conversation has forward secrecy, and what happened to it.
import { useSignal } from '@preact/signals'
import type { Conversation } from '@sotto/client'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { attempt } from '../../session/notices.ts'
import { useSecrecyLog } from '../../session/use-secrecy-log.ts'
import { useSession } from '../../session/use-session.ts'
import { fullTime } from '../../texts/dates.ts'
import { secrecyTexts, secrecyWords } from '../../texts/secrecy.ts'

export function SecrecyCard({ contact }: { readonly contact: Conversation }) {
  const name = contact.name ?? contact.nickname
  const t = secrecyTexts.value
  const { conversationId, hasForwardSecrecy, isLowered } = contact
  const hasNotText = isLowered ? t.loweredText : t.hasNotText
  return (
    <div class="card">
      <h2>{t.title}</h2>
      <p>{hasForwardSecrecy ? t.hasText : hasNotText(name)}</p>
      {(hasForwardSecrecy || isLowered) && <Happened conversationId={conversationId} name={name} />}
      {hasForwardSecrecy && <Lower conversationId={conversationId} name={name} />}
    </div>
  )
}

/** For a contact whose present app has none: only the user can permit that. */
function Lower({ conversationId, name }: { readonly conversationId: string; readonly name: string }) {
  const session = useSession()
  const isAsked = useSignal(false)
  const t = secrecyTexts.value
  const lower = (): Promise<boolean> =>
    attempt(async () => (await session.secrecy()).allowOlderVersion(conversationId))
  return (
    <>
      <Button kind="danger" onClick={() => (isAsked.value = true)}>
        {t.lower}
      </Button>
      {isAsked.value && (
        <Confirm
          title={t.lowerTitle(name)}
          text={t.lowerText(name)}
          action={t.lower}
          isDangerous
          onConfirm={lower}
          onClose={() => (isAsked.value = false)}
        />
      )}
    </>
  )
}

function Happened({ conversationId, name }: { readonly conversationId: string; readonly name: string }) {
  const lines = (useSecrecyLog(conversationId)?.told ?? [])
    .flatMap(({ at, notice }) => ({ at, words: secrecyWords(notice, name) }))
    .filter(({ words }) => words !== undefined)
    .reverse()
  if (lines.length === 0) return null
  return (
    <>
      <h3>{secrecyTexts.value.happened}</h3>
      <ul class="contacts-happened">
        {lines.map(({ at, words }, index) => (
          // Two lines may be the same, so their place is the key.
          <li key={index}>
            <span class="soft small">{fullTime(at)}</span>
            <p>{words}</p>
          </li>
        ))}
      </ul>
    </>
  )
}
