// A terminal for people. Output is printed above a status line and the line being typed. Both are redrawn
// below it each time, so that incoming messages never garble the typed line.
import { emitKeypressEvents } from 'node:readline'
import type { ReadStream, WriteStream } from 'node:tty'
import { cells, cut } from '../sanitize.ts'
import { type Key, LineEditor } from './line-editor.ts'
import type { MarkedLine, Terminal, TerminalHandlers } from './terminal.ts'

const MIN_ANSWER_CELLS = 20
const CLEAR_BELOW = '\u001b[J'
const DIM = '\u001b[2m'
const PLAIN = '\u001b[0m'
const BRACKETED_PASTE = { on: '\u001b[?2004h', off: '\u001b[?2004l' }
// biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours, which take no columns
const COLOURS = /\u001b\[[0-9;]*m/g

/** The position of a marked line, in rows from the first printed one. */
interface PrintedMark {
  readonly row: number
  readonly column: number
}

/** A terminal in raw mode. */
export class TtyTerminal implements Terminal {
  readonly isInteractive = true
  readonly #input: ReadStream
  readonly #output: WriteStream
  readonly #editor = new LineEditor()
  readonly #marks = new Map<string, PrintedMark>()
  readonly #hasColour: boolean
  /** Lines entered before the chat asked for them. */
  readonly #typedAhead: string[] = []
  #handlers: TerminalHandlers | undefined
  #asking: ((line: string | undefined) => void) | undefined
  #prompt = ''
  #status = ''
  /** The number of rows drawn below the printed lines; 0 if there are none. */
  #drawnRows = 0
  #printedRows = 0
  #isOpen = true

  constructor(input: ReadStream, output: WriteStream, hasColour: boolean) {
    this.#input = input
    this.#output = output
    this.#hasColour = hasColour
    emitKeypressEvents(input)
    input.setRawMode(true)
    input.resume()
    input.on('keypress', this.#onKeypress)
    output.on('resize', this.#onResize)
    output.write(BRACKETED_PASTE.on)
  }

  get columns(): number {
    return Math.max(20, this.#output.columns || 80)
  }

  print(text: string): void {
    this.#output.write(this.#erased())
    for (const line of text.split('\n')) {
      this.#output.write(`${line}\r\n`)
      this.#countRows(line)
    }
    this.#draw()
  }

  printMarked(line: MarkedLine): void {
    const row = this.#printedRows
    this.print(`${line.beforeMark}${line.mark}${line.afterMark}`)
    this.#marks.set(line.key, { row, column: cells(line.beforeMark.replace(COLOURS, '')) })
  }

  changeMark(key: string, mark: string): boolean {
    const printed = this.#marks.get(key)
    if (!printed || !this.#isOpen) return false
    const rowsUp = this.#printedRows - printed.row + Math.max(0, this.#drawnRows - 1)
    if (rowsUp >= (this.#output.rows || 24)) return false
    this.#output.write(
      `\u001b7\u001b[${rowsUp}A\r${printed.column > 0 ? `\u001b[${printed.column}C` : ''}${mark}\u001b8`,
    )
    return true
  }

  setPrompt(prompt: string): void {
    this.#prompt = prompt
    this.#redraw()
  }

  setStatus(status: string): void {
    if (this.#status === status) return
    this.#status = status
    this.#redraw()
  }

  ask(question: string, options: { isSecret?: boolean } = {}): Promise<string | undefined> {
    // A question that leaves no space for its answer gets a separate line.
    const fits = cells(question) + MIN_ANSWER_CELLS <= this.columns
    if (!fits) this.print(question)
    this.setPrompt(fits ? question : '> ')
    return new Promise((resolve) => {
      const answer = (line: string | undefined): void => {
        this.#asking = undefined
        this.print(`${this.#prompt}${options.isSecret ? '' : (line ?? '')}`)
        this.setPrompt('')
        resolve(line)
      }
      const typedAhead = this.#typedAhead.shift()
      if (typedAhead === undefined) this.#asking = answer
      else answer(typedAhead)
    })
  }

  start(handlers: TerminalHandlers): void {
    this.#handlers = handlers
    // Earlier answers, perhaps a recovery phrase, must not be in the history.
    this.#editor.forgetHistory()
    this.#redraw()
    for (const line of this.#typedAhead.splice(0)) handlers.onLine(line)
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#output.write(`${this.#erased()}${BRACKETED_PASTE.off}`)
    this.#input.off('keypress', this.#onKeypress)
    this.#output.off('resize', this.#onResize)
    this.#input.setRawMode(false)
    this.#input.pause()
  }

  readonly #onKeypress = (text: string | undefined, key: Partial<Key> & { sequence?: string }): void => {
    const pressed = {
      text: text ?? '',
      name: key.name ?? '',
      ctrl: key.ctrl ?? false,
      meta: key.meta ?? false,
    }
    const outcome = this.#editor.press(pressed)
    switch (outcome.kind) {
      case 'submit':
        this.#redraw()
        return this.#take(outcome.line)
      case 'interrupt':
      case 'end':
        return this.#asking ? this.#asking(undefined) : this.#handlers?.onEnd()
      case 'changed':
        this.#redraw()
        return this.#handlers?.onTyping(this.#editor.text)
      case 'moved':
        return this.#redraw()
      default:
        return
    }
  }

  #take(line: string): void {
    if (this.#asking) this.#asking(line)
    else if (this.#handlers) this.#handlers.onLine(line)
    else this.#typedAhead.push(line)
  }

  readonly #onResize = (): void => {
    // The terminal has rewrapped the lines above, so the positions of the marks are unknown.
    this.#marks.clear()
    this.#redraw()
  }

  #redraw(): void {
    if (!this.#isOpen) return
    this.#output.write(this.#erased())
    this.#draw()
  }

  /** The escape sequence that erases the drawn rows. The cursor is in the last one. */
  #erased(): string {
    const up = this.#drawnRows > 1 ? `\u001b[${this.#drawnRows - 1}A` : ''
    this.#drawnRows = 0
    return `\r${up}${CLEAR_BELOW}`
  }

  #draw(): void {
    if (!this.#isOpen) return
    const { columns } = this
    const prompt = cut(this.#prompt, columns - MIN_ANSWER_CELLS / 2)
    const status = cut(this.#status, columns - 1)
    const { text, column } = this.#editor.view(columns - cells(prompt) - 1)
    const statusRow = status === '' ? '' : `${this.#hasColour ? `${DIM}${status}${PLAIN}` : status}\r\n`
    const cursorColumn = cells(prompt) + column
    this.#output.write(`${statusRow}${prompt}${text}\r${cursorColumn > 0 ? `\u001b[${cursorColumn}C` : ''}`)
    this.#drawnRows = status === '' ? 1 : 2
  }

  #countRows(line: string): void {
    const text = line.replace(COLOURS, '')
    const width = cells(text)
    // Terminals disagree on the width of some characters. If that could change the number of rows, the marks
    // above are abandoned instead of being written into the wrong line.
    const isCertain =
      !/[^ -\u02ff\u2026\u2713\u2717\u2502\u2580-\u259f\u00b7]/.test(text) || width * 2 < this.columns
    if (!isCertain) this.#marks.clear()
    this.#printedRows += Math.max(1, Math.ceil(width / this.columns))
  }
}
