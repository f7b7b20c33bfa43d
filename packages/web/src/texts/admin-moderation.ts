import { adminModeration } from './en/admin-moderation.ts'
import { translated } from './texts.ts'

export const adminModerationTexts = translated(adminModeration, {
  ar: async () => (await import('./ar/admin-moderation.ts')).adminModeration,
})
