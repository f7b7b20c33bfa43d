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

/**
 * The effect of a key. `submit` contains the line; the editor is then empty. `full`: the text would make the
 * line longer than `MAX_LINE_BYTES`, so nothing was inserted; `bytes` is the length it would have.
 */
export type KeyOutcome =
  | { readonly kind: 'none' | 'moved' | 'changed' | 'interrupt' | 'end' | 'complete' }
  | { readonly kind: 'submit'; readonly line: string }
  | { readonly kind: 'full'; readonly bytes: number }

/** The maximum length of a line in bytes of UTF-8. A message of this length fits into one payload. */
export const MAX_LINE_BYTES = 48_000
const HISTORY_LINES = 200
/** How many characters after inserted text are segmented again with it, such as flags in a row. */
const CHARACTERS_AFTER = 32

/** One editable line. */
export class LineEditor {
  #characters: string[] = []
  #cursor = 0
  readonly #history: string[] = []
  /** The index of the shown history line; the history's length if none is shown. */
  #historyAt = 0
  #draft = ''
  #bytes = 0
  /** The text of a paste that has begun and not ended. */
  #paste: Paste | undefined

  get text(): string {
    return this.#characters.join('')
  }

  /** The text before the cursor. */
  get textBeforeCursor(): string {
    return this.#characters.slice(0, this.#cursor).join('')
  }

  forgetHistory(): void {
    this.#history.length = 0
    this.#historyAt = 0
  }

  press(key: Key): KeyOutcome {
    if (key.name === 'paste-start') {
      this.#paste = new Paste()
      return { kind: 'none' }
    }
    if (this.#paste) return this.#pasteKey(this.#paste, key)
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
      case 'tab':
        return { kind: 'complete' }
      default:
        return this.#insertTyped(key)
    }
  }

  /** Replaces the text before the cursor, as completion does. */
  replaceBeforeCursor(text: string): KeyOutcome {
    this.#remove(0, this.#cursor)
    return this.#insert(text)
  }

  /** The part around the cursor that fits into `width` columns, and the cursor's column in it. */
  view(width: number): { readonly text: string; readonly column: number } {
    let start = this.#cursor
    let column = 0
    // As much as fits before the cursor, with one column for the cursor itself.
    while (start > 0) {
      const next = cells(this.#shown(start - 1))
      if (column + next > width - 1) break
      column += next
      start -= 1
    }
    let text = ''
    let used = 0
    for (let at = start; at < this.#characters.length; at += 1) {
      const character = this.#shown(at)
      used += cells(character)
      if (used > width) break
      text += character
    }
    return { text, column }
  }

  #shown(at: number): string {
    const character = this.#characters[at] ?? ''
    if (character === '\n') return '⏎'
    return character === '\t' ? '⇥' : character
  }

  // In a paste only Ctrl-C is a command. A line break belongs to the text and must not send half of it.
  #pasteKey(paste: Paste, key: Key): KeyOutcome {
    if (key.ctrl && key.name === 'c') return { kind: 'interrupt' }
    if (key.name !== 'paste-end') {
      paste.add(key)
      return { kind: 'none' }
    }
    this.#paste = undefined
    return paste.text === '' ? { kind: 'none' } : this.#insert(paste.text, paste.bytes)
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
    const text = textOf(key)
    return text === '' ? { kind: 'none' } : this.#insert(text)
  }

  #insert(text: string, bytes = Buffer.byteLength(text)): KeyOutcome {
    if (this.#bytes + bytes > MAX_LINE_BYTES) return { kind: 'full', bytes: this.#bytes + bytes }
    // Only the surroundings of the text are segmented again: a new combining mark joins the letter before it.
    const from = Math.max(0, this.#cursor - 1)
    const to = this.#cursor + CHARACTERS_AFTER
    const before = this.#characters.slice(from, this.#cursor).join('') + text
    const after = this.#characters.slice(this.#cursor, to).join('')
    const changed = graphemes(before + after)
    const rest = this.#characters.slice(to)
    this.#characters.length = from
    for (const character of changed) this.#characters.push(character)
    for (const character of rest) this.#characters.push(character)
    this.#cursor = from + (after === '' ? changed.length : graphemes(before).length)
    this.#bytes += bytes
    return { kind: 'changed' }
  }

  #remove(from: number, to: number): KeyOutcome {
    const start = Math.max(0, from)
    const removed = this.#characters.splice(start, Math.max(0, to - start))
    this.#cursor = start
    this.#bytes -= Buffer.byteLength(removed.join(''))
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
    this.#bytes = Buffer.byteLength(text)
  }
}

/** Collects the text of a paste. Text beyond the maximum of a line is counted and not kept. */
class Paste {
  bytes = 0
  readonly #parts: string[] = []
  #hasReturn = false

  get text(): string {
    return this.#parts.join('')
  }

  add(key: Key): void {
    const text = textOf(key)
    // A line may end with a return and a line feed.
    const isSecondHalf = this.#hasReturn && key.name === 'enter'
    this.#hasReturn = key.name === 'return'
    if (text === '' || isSecondHalf) return
    this.bytes += Buffer.byteLength(text)
    if (this.bytes <= MAX_LINE_BYTES) this.#parts.push(text)
  }
}

function textOf(key: Key): string {
  if (isEnter(key)) return '\n'
  if (key.name === 'tab') return '\t'
  // Keys without a character have an escape sequence as their text.
  return key.ctrl || key.meta || /\p{Cc}/u.test(key.text) ? '' : key.text
}

function isEnter(key: Key): boolean {
  return key.name === 'return' || key.name === 'enter'
}
