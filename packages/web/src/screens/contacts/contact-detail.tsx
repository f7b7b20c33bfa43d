// What is open in contacts: adding somebody, the user's own alias, or one contact.
import { AddContact } from './add-contact.tsx'
import { ContactPage } from './contact-page.tsx'
import { MyAlias } from './my-alias.tsx'
import './contacts.css'

export function ContactDetail({ id }: { readonly id: string }) {
  if (id === 'add') return <AddContact />
  if (id === 'me') return <MyAlias />
  return <ContactPage conversationId={id} />
}
