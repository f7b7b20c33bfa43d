// Keeps a person's text from being shown as something else. Older clients decide by the beginning of a text
// whether it is media, and no wrapper changes that. So such a text gets one invisible character in front.

/** U+200B ZERO WIDTH SPACE: invisible, and neither white space in JSON nor part of any form. */
const MARK = '\u200b'

/**
 * Texts that a client takes for a form: a word in brackets, or JSON with the name of a form's member. Names
 * in JSON can be written with escapes. Texts that already have marks count too, so that marks can be removed
 * without ambiguity.
 */
const LOOKS_LIKE_A_FORM = /^\u200b*(?:\[(?:img|image|file|voice)\]|\s*\{.*(?:type|replyToId|\\u))/s

/** The text to send for a text by a person. */
export function markLiteral(text: string): string {
  return LOOKS_LIKE_A_FORM.test(text) ? MARK + text : text
}

/** The text by a person that was sent as `text`. */
export function unmarkLiteral(text: string): string {
  return text.startsWith(MARK) && LOOKS_LIKE_A_FORM.test(text) ? text.slice(1) : text
}
