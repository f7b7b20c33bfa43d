// Above every screen: another device has taken the connection.
import { Button } from '../parts/button.tsx'
import { attempt } from '../session/notices.ts'
import { useSession } from '../session/use-session.ts'
import { texts } from '../texts/texts.ts'

export function ReplacedBar() {
  const session = useSession()
  const t = texts.value.common
  return (
    <div class="app-bar" data-kind="warning" role="alert">
      <div class="app-bar-text">
        <strong>{t.replacedTitle}</strong>
        <p>{t.replacedText}</p>
      </div>
      <Button kind="primary" icon="device" onClick={() => attempt(() => session.connect())}>
        {t.useHere}
      </Button>
    </div>
  )
}
