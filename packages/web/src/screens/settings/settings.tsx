// The list of settings.
import { Icon, type IconName } from '../../parts/icon.tsx'
import { Row } from '../../parts/row.tsx'
import { Screen } from '../../parts/screen.tsx'
import { href, route } from '../../session/route.ts'
import { deviceTexts } from '../../texts/device.ts'
import { settingsTexts } from '../../texts/settings.ts'

export function Settings() {
  const t = settingsTexts.value
  const d = deviceTexts.value
  const [, current] = route.value.path
  const sections: readonly (readonly [id: string, icon: IconName, title: string, hint: string])[] = [
    ['account', 'contacts', t.account, t.accountHint],
    ['lock', 'lock', t.lock, t.lockHint],
    ['appearance', 'sun', t.appearance, t.appearanceHint],
    ['notices', 'bell', d.notices, d.noticesHint],
    ['storage', 'storage', d.storage, d.storageHint],
    ['backup', 'device', d.backup, d.backupHint],
    ['about', 'info', d.about, d.aboutHint],
  ]
  return (
    <Screen title={t.title}>
      <ul>
        {sections.map(([id, icon, title, hint]) => (
          <li key={id}>
            <Row
              lead={<Icon name={icon} />}
              title={title}
              detail={hint}
              href={href('settings', id)}
              isCurrent={current === id}
            />
          </li>
        ))}
      </ul>
    </Screen>
  )
}
