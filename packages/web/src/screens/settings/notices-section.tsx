// Notifications while the app is closed.
import { Choice } from '../../parts/choice.tsx'
import { attempt, notify } from '../../session/notices.ts'
import {
  askForNotifications,
  beginNotifications,
  canNotify,
  endNotifications,
} from '../../session/notifications.ts'
import { type NoticeDetail, prefer, preferences } from '../../session/preferences.ts'
import { useSession } from '../../session/use-session.ts'
import { deviceTexts } from '../../texts/device.ts'

const DETAILS: readonly NoticeDetail[] = ['off', 'hidden', 'sender', 'text']

export function NoticesSection() {
  const session = useSession()
  const t = deviceTexts.value
  const change = (notices: NoticeDetail): Promise<boolean> =>
    attempt(async () => {
      const before = preferences.value.notices
      if (notices === 'off') await endNotifications(session)
      else if (before === 'off' && !(await askForNotifications())) return notify(t.noticesDenied)
      prefer({ notices })
      if (before === 'off' && !(await beginNotifications(session))) notify(t.noticesWhileOpen)
    })
  return (
    <div class="card">
      <p class="soft">{t.noticesText}</p>
      {canNotify() ? (
        <Choice
          label={t.noticesOn}
          value={preferences.value.notices}
          options={DETAILS.map((value) => ({ value, label: t.noticeDetails[value] }))}
          onChange={change}
        />
      ) : (
        <p>{t.noticesUnsupported}</p>
      )}
    </div>
  )
}
