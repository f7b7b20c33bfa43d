// The line being typed: its text, cursor and history, and the effect of each key. Independent of any
// terminal.
import { cells, graphemes } from '../sanitize.ts'

/** A key, as in node:readline's keypress events. */
export interface Key {
  readonly text: string
  readonly name: string
  readonly ctrl: boolean
  readonly meta: boolean
}

/** The effect of a key. `submit` contains the line; the editor is then empty. */
export type KeyOutcome =
  | { readonly kind: 'none' | 'moved' | 'changed' | 'interrupt' | 'end' }
  | { readonly kind: 'submit'; readonly line: string }

const HISTORY_LINES = 200

/** One editable line. */
export class LineEditor {
  #characters: string[] = []
  #cursor = 0
  readonly #history: string[] = []
  /** The index of the shown history line; the history's length if none is shown. */
  #historyAt = 0
  #draft = ''
  #isPasting = false

  get text(): string {
    return this.#characters.join('')
  }

  forgetHistory(): void {
    this.#history.length = 0
    this.#historyAt = 0
  }

  press(key: Key): KeyOutcome {
    if (key.name === 'paste-start' || key.name === 'paste-end') {
      this.#isPasting = key.name === 'paste-start'
      return { kind: 'none' }
    }
    // In a paste, a line break belongs to the text and must not send half of it.
    if (this.#isPasting && isEnter(key)) return this.#insert('\n')
    if (isEnter(key)) return this.#submit()
    if (key.ctrl) return this.#control(key.name)
    if (key.meta && key.name !== 'b' && key.name !== 'f') return { kind: 'none' }
    switch (key.name) {
      case 'backspace':
        return this.#remove(this.#cursor - 1, this.#cursor)
      case 'delete':
        return this.#remove(this.#cursor, this.#cursor + 1)
      case 'left':
        return this.#move(this.#cursor - 1)
      case 'right':
        return this.#move(this.#cursor + 1)
      case 'home':
        return this.#move(0)
      case 'end':
        return this.#move(this.#characters.length)
      case 'up':
        return this.#recall(this.#historyAt - 1)
      case 'down':
        return this.#recall(this.#historyAt + 1)
      default:
        return this.#insertTyped(key)
    }
  }

  /** The part around the cursor that fits into `width` columns, and the cursor's column in it. */
  view(width: number): { readonly text: string; readonly column: number } {
    const shown = this.#characters.map((character) => (character === '\n' ? '⏎' : character))
    let start = this.#cursor
    let column = 0
    // As much as fits before the cursor, with one column for the cursor itself.
    while (start > 0) {
      const next = cells(shown[start - 1] ?? '')
      if (column + next > width - 1) break
      column += next
      start -= 1
    }
    let text = ''
    let used = 0
    for (const character of shown.slice(start)) {
      used += cells(character)
      if (used > width) break
      text += character
    }
    return { text, column }
  }

  #control(name: string): KeyOutcome {
    switch (name) {
      case 'c':
        return { kind: 'interrupt' }
      case 'd':
        return this.#characters.length === 0 ? { kind: 'end' } : this.#remove(this.#cursor, this.#cursor + 1)
      case 'a':
        return this.#move(0)
      case 'e':
        return this.#move(this.#characters.length)
      case 'b':
        return this.#move(this.#cursor - 1)
      case 'f':
        return this.#move(this.#cursor + 1)
      case 'h':
        return this.#remove(this.#cursor - 1, this.#cursor)
      case 'u':
        return this.#remove(0, this.#cursor)
      case 'k':
        return this.#remove(this.#cursor, this.#characters.length)
      case 'w':
        return this.#remove(this.#wordStart(), this.#cursor)
      case 'p':
        return this.#recall(this.#historyAt - 1)
      case 'n':
        return this.#recall(this.#historyAt + 1)
      case 'left':
        return this.#move(this.#wordStart())
      default:
        return { kind: 'none' }
    }
  }

  #insertTyped(key: Key): KeyOutcome {
    // Keys without a character have an escape sequence as their text.
    if (key.text === '' || key.meta || /\p{Cc}/u.test(key.text)) return { kind: 'none' }
    return this.#insert(key.text)
  }

  #insert(text: string): KeyOutcome {
    const before = this.#characters.slice(0, this.#cursor).join('') + text
    const after = this.#characters.slice(this.#cursor).join('')
    // Segmented again: a new combining mark joins the letter before it.
    this.#characters = graphemes(before + after)
    this.#cursor = graphemes(before).length
    return { kind: 'changed' }
  }

  #remove(from: number, to: number): KeyOutcome {
    const start = Math.max(0, from)
    const removed = this.#characters.splice(start, Math.max(0, to - start))
    this.#cursor = start
    return { kind: removed.length > 0 ? 'changed' : 'none' }
  }

  #move(to: number): KeyOutcome {
    this.#cursor = Math.min(Math.max(0, to), this.#characters.length)
    return { kind: 'moved' }
  }

  #wordStart(): number {
    let at = this.#cursor
    while (at > 0 && this.#characters[at - 1] === ' ') at -= 1
    while (at > 0 && this.#characters[at - 1] !== ' ') at -= 1
    return at
  }

  #recall(at: number): KeyOutcome {
    if (at < 0 || at > this.#history.length) return { kind: 'none' }
    if (this.#historyAt === this.#history.length) this.#draft = this.text
    this.#historyAt = at
    this.#set(this.#history[at] ?? this.#draft)
    return { kind: 'changed' }
  }

  #submit(): KeyOutcome {
    const line = this.text
    if (line.trim() !== '' && this.#history.at(-1) !== line) this.#history.push(line)
    if (this.#history.length > HISTORY_LINES) this.#history.shift()
    this.#historyAt = this.#history.length
    this.#draft = ''
    this.#set('')
    return { kind: 'submit', line }
  }

  #set(text: string): void {
    this.#characters = graphemes(text)
    this.#cursor = this.#characters.length
  }
}

function isEnter(key: Key): boolean {
  return key.name === 'return' || key.name === 'enter'
}
