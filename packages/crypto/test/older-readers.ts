// How two published clients, which cannot be changed, read the plaintext of a message. Both show what they
// find, and check no key.

/** What such a client shows. */
export interface Shown {
  readonly kind: 'text' | 'image' | 'file' | 'voice'
  /** The text; of media the key. */
  readonly shows: unknown
  readonly replyToId?: unknown
}

/**
 * The web client. The library unwraps a reply. The page then decides by the beginning of the text, and after
 * that by the `type` of JSON. It takes the key of an image only from JSON.
 */
export function webReading(plaintext: string): Shown {
  const outer = parsed(plaintext)
  const isReply = Boolean(outer?.replyToId) && typeof outer?.text === 'string'
  const text = isReply ? String(outer?.text) : plaintext
  const reply = isReply ? { replyToId: outer?.replyToId } : {}
  const form = parsed(text)
  if (text.startsWith('[img]')) return { kind: 'image', shows: form?.key ?? '', ...reply }
  for (const kind of ['file', 'voice'] as const) {
    if (!text.startsWith(`[${kind}]`)) continue
    return { kind, shows: text.slice(kind.length + 2).split('|')[0], ...reply }
  }
  const kind = form?.type
  if (kind === 'image' || kind === 'file' || kind === 'voice') return { kind, shows: form?.key, ...reply }
  return { kind: 'text', shows: text, ...reply }
}

/**
 * The phone client. A reply has the names `text` and `replyToId`, media have `type` and `key`, and a message
 * can be both. It does not know the forms in brackets, except in its list of conversations.
 */
export function phoneReading(plaintext: string): Shown {
  const form = parsed(plaintext)
  const isReply = typeof form?.text === 'string' && typeof form.replyToId === 'string'
  const reply = isReply ? { replyToId: form.replyToId } : {}
  const kind = form?.type
  if (kind === 'image' || kind === 'file' || kind === 'voice') return { kind, shows: form?.key, ...reply }
  return { kind: 'text', shows: isReply ? form.text : plaintext, ...reply }
}

/** Whether the phone client's list of conversations shows a text as what it is. */
export function isTextInPhoneList(text: string): boolean {
  if (/^\[(?:img|image|file|voice)\]/.test(text)) return false
  return !['image', 'file', 'voice'].includes(String(text.startsWith('{') ? parsed(text)?.type : ''))
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}
