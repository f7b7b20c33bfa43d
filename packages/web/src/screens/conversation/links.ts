// Finds the links in a text, and says whether an address is what the text seems to name.

/** A part of a text: plain, or a link with the address that it leads to. */
export interface TextPart {
  readonly text: string
  readonly href?: string
}

// Whatever looks like an address of the web or of mail. The browser's parser decides what it is.
const CANDIDATE = /(?:https?:\/\/|mailto:|www\.)[^\s<>"\u200e\u200f\u202a-\u202e\u2066-\u2069]+/giu
const TRAILING = /[.,:;!?'*_~…،؛؟]+$/u
const CLOSING: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }

/** Splits a text at its links. Joined, the parts are the text again. */
export function partsOf(text: string): readonly TextPart[] {
  const parts: TextPart[] = []
  let done = 0
  for (const { 0: found, index } of text.matchAll(CANDIDATE)) {
    const link = withoutEnd(found)
    const href = addressOf(link)
    if (href === undefined || index < done) continue
    if (index > done) parts.push({ text: text.slice(done, index) })
    parts.push({ text: link, href })
    done = index + link.length
  }
  if (done < text.length) parts.push({ text: text.slice(done) })
  return parts
}

/** Whether a link's text differs from where it leads, so that a person should see the address first. */
export function isMisleading({ text, href }: { readonly text: string; readonly href: string }): boolean {
  const { protocol, username, password } = new URL(href)
  if (username !== '' || password !== '') return true
  const shown = /^(?:https?:\/\/|mailto:)/iu.test(text) ? text : `${protocol}//${text}`
  return plainForm(shown) !== plainForm(href)
}

/** The address that a text stands for, if it is one that the app opens. */
function addressOf(text: string): string | undefined {
  const address = /^www\./iu.test(text) ? `https://${text}` : text
  if (!URL.canParse(address)) return undefined
  const { protocol, href, hostname, pathname } = new URL(address)
  if (protocol === 'mailto:') return pathname.includes('@') ? href : undefined
  return (protocol === 'https:' || protocol === 'http:') && hostname !== '' ? href : undefined
}

/** A sentence's end is no part of the address, and neither is a bracket that was opened before it. */
function withoutEnd(found: string): string {
  const link = found.replace(TRAILING, '')
  const last = link.at(-1) ?? ''
  const opening = CLOSING[last]
  if (opening === undefined || countOf(link, opening) >= countOf(link, last)) return link
  return withoutEnd(link.slice(0, -1))
}

function countOf(text: string, character: string): number {
  return text.split(character).length - 1
}

/** An address without what makes no difference to a reader: the case of the host, and a last slash. */
function plainForm(address: string): string {
  const [, host = '', rest = ''] = /^([a-z]+:(?:\/\/)?[^/?#]*)(.*)$/isu.exec(address) ?? []
  return host.toLowerCase() + decoded(rest).replace(/\/$/, '')
}

function decoded(text: string): string {
  try {
    return decodeURI(text)
  } catch {
    // A percent sign that encodes nothing stays as it is.
    return text
  }
}
