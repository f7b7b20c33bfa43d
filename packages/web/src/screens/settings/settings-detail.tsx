// The open section of the settings.
import { Screen } from '../../parts/screen.tsx'
import { Empty } from '../../parts/state.tsx'
import { href } from '../../session/route.ts'
import { deviceTexts } from '../../texts/device.ts'
import { settingsTexts } from '../../texts/settings.ts'
import { AboutSection } from './about-section.tsx'
import { AccountSection } from './account-section.tsx'
import { AppearanceSection } from './appearance-section.tsx'
import { BackupSection } from './backup-section.tsx'
import { LockSection } from './lock-section.tsx'
import { NoticesSection } from './notices-section.tsx'
import { StorageSection } from './storage-section.tsx'

export function SettingsDetail({ id }: { readonly id: string }) {
  const t = settingsTexts.value
  const d = deviceTexts.value
  const sections = {
    account: { title: t.account, Section: AccountSection },
    lock: { title: t.lock, Section: LockSection },
    appearance: { title: t.appearance, Section: AppearanceSection },
    notices: { title: d.notices, Section: NoticesSection },
    storage: { title: d.storage, Section: StorageSection },
    backup: { title: d.backup, Section: BackupSection },
    about: { title: d.about, Section: AboutSection },
  }
  const isSection = (name: string): name is keyof typeof sections => Object.hasOwn(sections, name)
  if (!isSection(id))
    return (
      <Screen title="" back={href('settings')}>
        <Empty icon="settings" title={t.choose} />
      </Screen>
    )
  const { title, Section } = sections[id]
  return (
    <Screen title={title} back={href('settings')}>
      <div class="column">
        <Section />
      </div>
    </Screen>
  )
}
