import { adminDeeds } from './en/admin-deeds.ts'
import { translated } from './texts.ts'

export const adminDeedTexts = translated(adminDeeds, {
  ar: async () => (await import('./ar/admin-deeds.ts')).adminDeeds,
})
