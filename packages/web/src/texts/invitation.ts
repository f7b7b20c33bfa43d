import { invitation } from './en/invitation.ts'
import { translated } from './texts.ts'

export const invitationTexts = translated(invitation, {
  ar: async () => (await import('./ar/invitation.ts')).invitation,
})
