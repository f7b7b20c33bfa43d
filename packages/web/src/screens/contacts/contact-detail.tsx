// What is open in contacts: adding somebody, the user's own alias, who is blocked, or one contact.
import { route } from '../../session/route.ts'
import { AddContact } from './add-contact.tsx'
import { Blocked } from './blocked.tsx'
import { ContactPage } from './contact-page.tsx'
import { MyAlias } from './my-alias.tsx'
import { SecurityCode } from './security-code.tsx'
import './contacts.css'

export function ContactDetail({ id }: { readonly id: string }) {
  if (id === 'add') return <AddContact />
  if (id === 'me') return <MyAlias />
  if (id === 'blocked') return <Blocked />
  if (route.value.path[2] === 'code') return <SecurityCode conversationId={id} />
  return <ContactPage conversationId={id} />
}
