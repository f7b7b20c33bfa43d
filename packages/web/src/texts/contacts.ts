import { contacts } from './en/contacts.ts'
import { translated } from './texts.ts'

export const contactsTexts = translated(contacts, {
  ar: async () => (await import('./ar/contacts.ts')).contacts,
})
