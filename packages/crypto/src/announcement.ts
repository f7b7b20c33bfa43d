// How a plaintext of version 1 announces that its sender speaks version 3: by invisible characters at the end
// of a text, and by members of JSON. Both name the sender, because people copy texts into messages of clients
// that do not speak version 3.

/** The version that is announced. */
export const ANNOUNCED_VERSION = 3

/** U+2063 INVISIBLE SEPARATOR. Sixteen of the four invisible characters from U+2061 follow, two bits each. */
const MARK = /\u2063[\u2061-\u2064]{16}$/
/** U+200B ZERO WIDTH SPACE, after a text that would end like an announcement without being one. */
const NO_MARK = '\u200b'
const LOOKS_MARKED = /\u2063[\u2061-\u2064]{16}\u200b*$/
const FIRST_OF_FOUR = 0x2061

/** What names a sender in an announcement: 24 bits of the account's X25519 public key, which is Base64. */
export function nameInAnnouncement(publicKey: string): string {
  return publicKey.slice(0, 4)
}

/** The text to send: with the sender's mark if it announces, and otherwise never with a mark at its end. */
export function announce(text: string, announcer: string | undefined): string {
  if (announcer !== undefined) return text + markOf(announcer)
  return LOOKS_MARKED.test(text) ? text + NO_MARK : text
}

/**
 * The text that was sent as `text`, and whether it announces.
 * @param sender the X25519 public key of its sender. The mark of anybody else announces nothing.
 */
export function readAnnouncement(
  text: string,
  sender: string | undefined,
): { readonly text: string; readonly announces: boolean } {
  if (MARK.test(text)) {
    const announces = sender !== undefined && text.endsWith(markOf(sender))
    return { text: text.replace(MARK, ''), announces }
  }
  const isEscaped = text.endsWith(NO_MARK) && LOOKS_MARKED.test(text)
  return { text: isEscaped ? text.slice(0, -1) : text, announces: false }
}

function markOf(publicKey: string): string {
  const digits = [...nameInAnnouncement(publicKey)].map((character) =>
    character.charCodeAt(0).toString(4).padStart(4, '0'),
  )
  return `\u2063${digits.join('').replace(/./g, (digit) => String.fromCharCode(FIRST_OF_FOUR + Number(digit)))}`
}
