// The links of invites.

/** The most characters of a link that is looked at: a QR code may contain anything. */
const MAX_CHARACTERS = 2000

/** An invite to register. */
export interface Invite {
  /** The `invite` of `create`. */
  readonly code: string
  /** The relay that a link names, or that serves the app of the link; undefined if only a code was given. */
  readonly relayUrl: string | undefined
}

/**
 * Reads the link of an invite, `<app>#/invite/<code>` with `?relay=<url>` if the relay does not serve the
 * app; or a code that somebody typed. @returns undefined if the text is neither
 */
export function readInvite(text: string): Invite | undefined {
  const given = text.trim()
  if (given.length > MAX_CHARACTERS) return undefined
  const url = urlOf(given)
  if (!url) return isCode(given) ? { code: given, relayUrl: undefined } : undefined
  if (!/^https?:$/.test(url.protocol)) return undefined
  const [path = '', query = ''] = url.hash.slice(1).split('?', 2)
  const [, invite, code = '', ...rest] = path.split('/')
  const relay = new URLSearchParams(query).get('relay') ?? new URL('.', url).href
  if (invite !== 'invite' || !isCode(code) || rest.length > 0 || !/^https?:\/\/./i.test(relay))
    return undefined
  const address = urlOf(relay)
  return address && { code, relayUrl: `${address.origin}${address.pathname.replace(/\/+$/, '')}` }
}

/**
 * The link of an invite. Its code is in the part after `#`, which browsers send to no server.
 * @param app the address of the app; what follows its last `/` does not count. The link names the relay,
 *   unless the app is at the relay's own address.
 */
export function inviteLink(code: string, { relayUrl, app }: { relayUrl: string; app: string }): string {
  const url = new URL('.', app)
  url.hash = `/invite/${code}`
  if (readInvite(url.href)?.relayUrl !== relayUrl.replace(/\/+$/, '')) {
    // In this part of an address, `:` and `/` may stand as they are: people can read the link.
    url.hash += `?relay=${encodeURIComponent(relayUrl).replaceAll('%3A', ':').replaceAll('%2F', '/')}`
  }
  return url.href
}

// Not by `URL.canParse`, which the oldest platforms lack.
function urlOf(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

function isCode(text: string): boolean {
  return /^[\w-]{1,64}$/.test(text)
}
