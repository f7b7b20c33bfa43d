import { settings } from './en/settings.ts'
import { translated } from './texts.ts'
import './later-errors.ts'

export const settingsTexts = translated(settings, {
  ar: async () => (await import('./ar/settings.ts')).settings,
})
