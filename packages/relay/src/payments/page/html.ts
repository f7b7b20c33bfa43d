// HTML that is escaped unless it was made here: what others chose can stand in a page only as text.

/** A piece of HTML, safe to stand in another. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Piece = string | number | Html | undefined

/** A template of HTML. Strings and numbers are escaped, for text and for quoted attributes; undefined leaves nothing. */
export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  return new Html(strings.reduce((text, next, i) => text + written(pieces[i - 1]) + next))
}

function written(piece: Piece): string {
  if (piece instanceof Html) return piece.text
  return piece === undefined ? '' : Bun.escapeHTML(piece)
}

/**
 * What others chose, as people may read it: without characters that cannot be seen but turn, hide or break the text
 * around them. Joiners stay, since scripts and emoji are written with them.
 */
export function readable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu, '')
}
