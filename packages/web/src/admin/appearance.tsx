// The language and the theme of the page.
import { prefer, preferences, type Theme } from '../session/preferences.ts'
import { adminTexts } from '../texts/admin.ts'
import { isLanguage, LANGUAGES } from '../texts/texts.ts'

const THEMES: readonly Theme[] = ['system', 'light', 'dark']

export function Appearance() {
  const t = adminTexts.value
  const { language, theme } = preferences.value
  return (
    <div class="admin-appearance">
      <select
        class="admin-select"
        aria-label={t.language}
        value={language}
        onChange={({ currentTarget: { value } }) => {
          if (isLanguage(value)) prefer({ language: value })
        }}
      >
        {Object.entries(LANGUAGES).map(([each, name]) => (
          <option key={each} value={each} lang={each}>
            {name}
          </option>
        ))}
      </select>
      <select
        class="admin-select"
        aria-label={t.theme}
        value={theme}
        onChange={({ currentTarget: { value } }) =>
          prefer({ theme: THEMES.find((each) => each === value) ?? 'system' })
        }
      >
        {THEMES.map((each) => (
          <option key={each} value={each}>
            {t.themes[each]}
          </option>
        ))}
      </select>
    </div>
  )
}
