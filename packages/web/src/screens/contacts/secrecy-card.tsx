// Whether a conversation has forward secrecy, and what happened to it.
import type { Conversation } from '@sotto/client'
import { useSecrecyLog } from '../../session/use-secrecy-log.ts'
import { fullTime } from '../../texts/dates.ts'
import { secrecyTexts, secrecyWords } from '../../texts/secrecy.ts'

export function SecrecyCard({ contact }: { readonly contact: Conversation }) {
  const name = contact.name ?? contact.nickname
  const t = secrecyTexts.value
  return (
    <div class="card">
      <h2>{t.title}</h2>
      <p>{contact.hasForwardSecrecy ? t.hasText : t.hasNotText(name)}</p>
      {contact.hasForwardSecrecy && <Happened conversationId={contact.conversationId} name={name} />}
    </div>
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
