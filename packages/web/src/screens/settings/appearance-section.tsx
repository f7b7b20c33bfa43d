// Theme and language.
import { Choice } from '../../parts/field.tsx'
import { prefer, preferences, type Theme } from '../../session/preferences.ts'
import { isLanguage, LANGUAGES, texts } from '../../texts/texts.ts'

const THEMES: readonly Theme[] = ['system', 'light', 'dark']

export function AppearanceSection() {
  const t = texts.value.settings
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
