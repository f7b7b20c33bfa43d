// How much of a long text is shown before the reader asks for the rest.
const MAX_CHARACTERS = 1200
const MAX_LINES = 20
/** Less than this is not worth a button. */
const WORTH_CHARACTERS = 200
const WORTH_LINES = 4

/** How many UTF-16 units of a text are shown at first: all of them, unless it is long. */
export function foldedLength(text: string): number {
  const lines = text.split('\n')
  const isTall = lines.length > MAX_LINES + WORTH_LINES
  const isLong = text.length > MAX_CHARACTERS + WORTH_CHARACTERS
  if (!isTall && !isLong) return text.length
  const byLines = isTall ? lines.slice(0, MAX_LINES).join('\n').length : text.length
  return wholeCharacters(text, Math.min(byLines, isLong ? MAX_CHARACTERS : text.length))
}

/** A length that cuts no surrogate pair. */
function wholeCharacters(text: string, length: number): number {
  const last = text.charCodeAt(length - 1)
  return last >= 0xd800 && last < 0xdc00 ? length - 1 : length
}
