import { suspension } from './en/suspension.ts'
import { translated } from './texts.ts'

export const suspensionTexts = translated(suspension, {
  ar: async () => (await import('./ar/suspension.ts')).suspension,
})
