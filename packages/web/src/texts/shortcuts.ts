import { shortcuts } from './en/shortcuts.ts'
import { translated } from './texts.ts'

export const shortcutsTexts = translated(shortcuts, {
  ar: async () => (await import('./ar/shortcuts.ts')).shortcuts,
})
