// The settings as they are in force.
import { useState } from 'preact/hooks'
import { SearchField } from '../parts/search-field.tsx'
import { adminTexts } from '../texts/admin.ts'
import { Answered } from './answered.tsx'
import type { Setting } from './answers.ts'
import { useAnswer } from './use-answer.ts'

export function SettingsPage() {
  const t = adminTexts.value.settings
  const read = useAnswer('settings')
  const [sought, seek] = useState('')
  const isSought = ({ name }: Setting): boolean => name.includes(sought.toUpperCase())
  return (
    <Answered read={read}>
      {(settings) => (
        <>
          <p class="soft">{t.hint}</p>
          <SearchField label={t.search} onSearch={seek} isCode />
          <SettingTable title={t.own} settings={settings.filter((each) => each.is_set && isSought(each))} />
          <SettingTable
            title={t.usual}
            settings={settings.filter((each) => !each.is_set && isSought(each))}
          />
        </>
      )}
    </Answered>
  )
}

function SettingTable({
  title,
  settings,
}: {
  readonly title: string
  readonly settings: readonly Setting[]
}) {
  const t = adminTexts.value.settings
  return (
    <section class="admin-section">
      <h2>{title}</h2>
      {settings.length === 0 ? (
        <p class="soft">{t.none}</p>
      ) : (
        <dl class="admin-settings">
          {settings.map(({ name, value }) => (
            <div key={name} class="admin-setting">
              <dt class="code">{name}</dt>
              <dd>
                {value === null ? (
                  <span class="soft">{t.secret}</span>
                ) : value === '' ? (
                  <span class="soft">{t.empty}</span>
                ) : (
                  <span class="code">{value}</span>
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  )
}
