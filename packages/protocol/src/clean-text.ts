// Takes out of texts chosen by others what nobody sees and what reverses, hides or breaks the text around it:
// control characters, bidirectional controls, and invisible characters that no script and no emoji needs.

// Default_Ignorable_Code_Point has the bidirectional controls, the joiners, the variation selectors, the
// tags, the fillers and the other characters that a font shows as nothing. Tabs and usual line breaks are
// no suspects.
const SUSPECT = /(?![\t\n\r])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/u
const LINE_BREAKS = /[\n\v\f\r\u0085\u2028\u2029]+/g
const UNUSUAL_LINE_BREAKS = /[\v\f\u0085\u2028\u2029]/g

/** Characters, and flags of regions such as Scotland: a black flag with the region in tags. */
const PIECES = /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}|./gsu

/**
 * A letter or mark of a script in which a joiner can change what is seen, such as Arabic and Devanagari. In
 * other scripts a joiner only makes two names that look the same.
 */
const JOINABLE =
  /^(?!\p{scx=Latin}|\p{scx=Greek}|\p{scx=Cyrillic}|\p{scx=Armenian}|\p{scx=Georgian}|\p{scx=Hebrew}|\p{scx=Han}|\p{scx=Hangul}|\p{scx=Hiragana}|\p{scx=Katakana}|\p{scx=Thai}|\p{scx=Lao}|\p{scx=Inherited})[\p{L}\p{M}]$/u
const MARK = /^\p{M}$/u
const PICTOGRAPH = /^\p{Extended_Pictographic}$/u
const END_OF_EMOJI = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f|\u20e3|\u{e007f})$/u
const KEYCAP = /^[0-9#*]$/
const HAS_TWO_STYLES = /^(?![0-9#*])\p{Emoji}$/u
/** Selectors of variants beside the styles of emoji. */
const SELECTOR = /[\ufe00-\ufe0d\u{e0100}-\u{e01ef}\u180b-\u180f]/u
/** Characters that have variants beside the styles of emoji. */
const HAS_VARIANTS = /^(?:\p{scx=Han}|\p{S})$/u

/**
 * A text of any number of lines without control characters, except line breaks and tabs, and without
 * bidirectional and invisible characters. A joiner or variation selector stays where a script or an emoji
 * needs it.
 */
export function cleanText(text: string): string {
  if (!SUSPECT.test(text)) return text
  const pieces = text.replaceAll(UNUSUAL_LINE_BREAKS, '\n').match(PIECES) ?? []
  let cleaned = ''
  let before = ''
  for (const [index, piece] of pieces.entries()) {
    const isFlag = piece.length > 2
    if (!isFlag && SUSPECT.test(piece) && !isNeeded(piece, before, pieces[index + 1] ?? '')) continue
    cleaned += piece
    before = piece
  }
  return cleaned
}

/** A name on one line: cleaned as by {@link cleanText}, with a space for a line break, and trimmed. */
export function cleanName(text: string): string {
  return cleanText(text.replaceAll(LINE_BREAKS, ' ').replaceAll('\t', ' ')).trim()
}

/** Whether a suspect character has a use between these two. */
function isNeeded(character: string, before: string, after: string): boolean {
  // A joiner after a mark, such as a virama, needs no letter after it.
  const isJoinable = JOINABLE.test(before) && (MARK.test(before) || JOINABLE.test(after))
  switch (character) {
    case '\u200c':
      return isJoinable
    case '\u200d':
      return isJoinable || (END_OF_EMOJI.test(before) && PICTOGRAPH.test(after))
    case '\ufe0e':
    case '\ufe0f':
      return HAS_TWO_STYLES.test(before) || (KEYCAP.test(before) && after === '\u20e3')
    default:
      return SELECTOR.test(character) && (JOINABLE.test(before) || HAS_VARIANTS.test(before))
  }
}
