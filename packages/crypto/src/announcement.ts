// How a plain text of version 1 announces that its sender speaks version 3: by one invisible character at
// its end.

/** The version that is announced. */
export const ANNOUNCED_VERSION = 3

/** U+2063 INVISIBLE SEPARATOR. */
const MARK = '\u2063'
/** U+200B ZERO WIDTH SPACE, after a text that would end like an announcement without being one. */
const NO_MARK = '\u200b'
const LOOKS_ANNOUNCED = /\u2063\u200b*$/

/** The text to send: with one more mark if it announces, and otherwise never with a mark at its end. */
export function announce(text: string, { announces }: { readonly announces: boolean }): string {
  if (announces) return text + MARK
  return LOOKS_ANNOUNCED.test(text) ? text + NO_MARK : text
}

/** The text that was sent as `text`, and whether it announces. */
export function readAnnouncement(text: string): { readonly text: string; readonly announces: boolean } {
  if (text.endsWith(MARK)) return { text: text.slice(0, -1), announces: true }
  const isMarked = text.endsWith(NO_MARK) && LOOKS_ANNOUNCED.test(text)
  return { text: isMarked ? text.slice(0, -1) : text, announces: false }
}
