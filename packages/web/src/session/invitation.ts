// Links that invite somebody to become a contact: `<app>#/add/<alias>`. The part after `#` is sent to no
// server. A link names the relay (`?relay=<url>`), unless the app is at the relay's own address.
import { relayUrlOf } from './relay-url.ts'

/** Who invites, and at which relay. */
export interface Invitation {
  readonly alias: string
  readonly relayUrl: string
}

/** The most characters of a link that is looked at: a QR code may contain anything. */
const MAX_CHARACTERS = 2000

/** The link for an invitation. @param app the address of the app; its part after `#` does not count */
export function invitationLink({ alias, relayUrl }: Invitation, app: string): string {
  const url = new URL('.', app)
  // In this part of an address, `:` and `/` may stand as they are: people can read the link.
  const relay = encodeURIComponent(relayUrl).replaceAll('%3A', ':').replaceAll('%2F', '/')
  url.hash = `/add/${alias}${relayUrl === relayUrlOf(url.href) ? '' : `?relay=${relay}`}`
  return url.href
}

/** The invitation in a link, or undefined if it is none. */
export function readInvitation(link: string): Invitation | undefined {
  const text = link.trim()
  if (text.length > MAX_CHARACTERS || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const [path = '', query = ''] = url.hash.slice(1).split('?', 2)
  const [, add, name = '', ...rest] = path.split('/')
  const alias = aliasIn(name)
  const relayUrl = relayUrlOf(new URLSearchParams(query).get('relay') ?? new URL('.', url).href)
  return add === 'add' && alias !== undefined && rest.length === 0 && relayUrl !== undefined
    ? { alias, relayUrl }
    : undefined
}

/** The alias that somebody typed: in any case, with spaces around it or `@` before it. */
export function aliasIn(typed: string): string | undefined {
  const alias = typed.trim().replace(/^@/, '').toLowerCase()
  return /^[a-z0-9_]{3,32}$/.test(alias) ? alias : undefined
}
