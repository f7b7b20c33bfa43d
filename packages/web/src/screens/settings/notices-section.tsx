// Notifications while the app is closed.
import { useSignal } from '@preact/signals'
import { Switch } from '../../parts/field.tsx'
import { attempt, notify } from '../../session/notices.ts'
import { allowNotifications, canNotify, endNotifications } from '../../session/notifications.ts'
import { preferences } from '../../session/preferences.ts'
import { useSession } from '../../session/use-session.ts'
import { texts } from '../../texts/texts.ts'

export function NoticesSection() {
  const session = useSession()
  const isBusy = useSignal(false)
  const t = texts.value.device
  const change = async (isOn: boolean): Promise<void> => {
    isBusy.value = true
    await attempt(async () => {
      if (!isOn) await endNotifications(session)
      else if (!(await allowNotifications(session))) notify(t.noticesDenied)
    })
    isBusy.value = false
  }
  return (
    <div class="card">
      <p class="soft">{t.noticesText}</p>
      {canNotify() ? (
        <Switch
          label={t.noticesOn}
          isOn={preferences.value.notifies}
          isDisabled={isBusy.value}
          onChange={change}
        />
      ) : (
        <p>{t.noticesUnsupported}</p>
      )}
    </div>
  )
}
