import { admin } from './en/admin.ts'
import { translated } from './texts.ts'

export const adminTexts = translated(admin, {
  ar: async () => (await import('./ar/admin.ts')).admin,
})
