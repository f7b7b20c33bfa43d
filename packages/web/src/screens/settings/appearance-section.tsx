// Theme and language.
import { Choice } from '../../parts/choice.tsx'
import { prefer, preferences, type Theme } from '../../session/preferences.ts'
import { settingsTexts } from '../../texts/settings.ts'
import { isLanguage, LANGUAGES } from '../../texts/texts.ts'

const THEMES: readonly Theme[] = ['system', 'light', 'dark']

export function AppearanceSection() {
  const t = settingsTexts.value
  return (
    <>
      <div class="card">
        <Choice
          label={t.theme}
          value={preferences.value.theme}
          options={THEMES.map((value) => ({ value, label: t.themes[value] }))}
          onChange={(theme) => prefer({ theme })}
        />
      </div>
      <div class="card">
        <Choice
          label={t.language}
          value={preferences.value.language}
          options={Object.entries(LANGUAGES).flatMap(([value, label]) =>
            isLanguage(value) ? [{ value, label }] : [],
          )}
          onChange={(language) => prefer({ language })}
        />
      </div>
    </>
  )
}
