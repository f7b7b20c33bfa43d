// Above the messages: what happened to the forward secrecy, until the user has seen it.
import { IconButton } from '../../parts/button.tsx'
import { attempt } from '../../session/notices.ts'
import { isLoud } from '../../session/secrecy-logs.ts'
import { useSecrecyLog } from '../../session/use-secrecy-log.ts'
import { useSession } from '../../session/use-session.ts'
import { secrecyWords } from '../../texts/secrecy.ts'
import { texts } from '../../texts/texts.ts'

interface SecrecyNoteProps {
  readonly conversationId: string
  readonly name: string
}

export function SecrecyNote({ conversationId, name }: SecrecyNoteProps) {
  const session = useSession()
  const log = useSecrecyLog(conversationId)
  const news = log?.told.filter(({ at, notice }) => at > log.seenAt && isLoud(notice)) ?? []
  // What has happened more than once is said once.
  const lines = new Set(news.flatMap(({ notice }) => secrecyWords(notice, name) ?? []))
  if (lines.size === 0) return null
  const dismiss = (): Promise<boolean> =>
    attempt(async () => (await session.secrecy()).dismiss(conversationId))
  return (
    <div class="banner conversation-secrecy" data-kind="warning" role="status">
      <div>
        {[...lines].map((line) => (
          <p key={line}>{line}</p>
        ))}
      </div>
      <IconButton icon="close" label={texts.value.common.close} onClick={dismiss} />
    </div>
  )
}
