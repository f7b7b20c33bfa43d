// HTML templates that escape every value that is not HTML itself, so that text chosen by others stays text.

/** A piece of safe HTML, which other templates insert unchanged. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Piece = string | number | Html | readonly Html[] | undefined

/**
 * An HTML template. Strings and numbers are escaped for text and for quoted attributes; undefined inserts
 * nothing, and a list its items.
 */
export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  return new Html(strings.reduce((text, next, i) => text + written(pieces[i - 1]) + next))
}

function written(piece: Piece): string {
  if (piece instanceof Html) return piece.text
  if (typeof piece === 'object') return piece.map(({ text }) => text).join('\n')
  return piece === undefined ? '' : Bun.escapeHTML(piece)
}
