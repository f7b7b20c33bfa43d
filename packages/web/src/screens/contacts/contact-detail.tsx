// What is open in contacts: adding somebody, the user's own alias, who is blocked, or one contact.
import { lazy } from '../../parts/lazy.tsx'
import { route } from '../../session/route.ts'
import './contacts.css'

const AddContact = lazy(async () => (await import('./add-contact.tsx')).AddContact)
const Blocked = lazy(async () => (await import('./blocked.tsx')).Blocked)
const ContactPage = lazy(async () => (await import('./contact-page.tsx')).ContactPage)
const MyAlias = lazy(async () => (await import('./my-alias.tsx')).MyAlias)
const SecurityCode = lazy(async () => (await import('./security-code.tsx')).SecurityCode)

export function ContactDetail({ id }: { readonly id: string }) {
  if (id === 'add') return <AddContact />
  if (id === 'me') return <MyAlias />
  if (id === 'blocked') return <Blocked />
  if (route.value.path[2] === 'code') return <SecurityCode conversationId={id} />
  return <ContactPage conversationId={id} />
}
