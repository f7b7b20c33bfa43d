// A terminal for people. Output is printed above a status line and the line being typed. Both are redrawn
// below it each time, so that incoming messages never garble the typed line.
import { emitKeypressEvents } from 'node:readline'
import type { ReadStream, WriteStream } from 'node:tty'
import { cells, cut } from '../sanitize.ts'
import { commonBeginning } from './completion.ts'
import { type Key, LineEditor, MAX_LINE_BYTES } from './line-editor.ts'
import type { MarkedLine, Terminal, TerminalHandlers } from './terminal.ts'

const MIN_ANSWER_CELLS = 20
const MAX_SHOWN_CHOICES = 60
const CLEAR_BELOW = '\u001b[J'
const CLEAR_LINE = '\u001b[2K'
const CLEAR_ALL = '\u001b[H\u001b[2J\u001b[3J'
const DIM = '\u001b[2m'
const PLAIN = '\u001b[0m'
const BRACKETED_PASTE = { on: '\u001b[?2004h', off: '\u001b[?2004l' }
/** The alternate screen has no scrollback. It is erased before the normal screen comes back. */
const ALTERNATE = { on: '\u001b[?1049h\u001b[H\u001b[2J', off: '\u001b[H\u001b[2J\u001b[?1049l' }
// biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours, which take no columns
const COLOURS = /\u001b\[[0-9;]*m/g

/** Characters that terminals may show wider or narrower than `cells` says. */
const UNSURE_WIDTHS = /[^ -\u02ff\u2026\u2713\u2717\u2502\u2580-\u259f]/gu

/** The position of a marked line, in rows from the first printed one. */
interface PrintedMark {
  readonly row: number
  readonly rows: number
  readonly column: number
}

/** A terminal in raw mode. */
export class TtyTerminal implements Terminal {
  readonly isInteractive = true
  readonly #input: ReadStream
  readonly #output: WriteStream
  readonly #editor = new LineEditor()
  /** Where each line was printed: more than once if the history was shown again. */
  readonly #marks = new Map<string, PrintedMark[]>()
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
  #isAlternate = false
  /** What the keys since the last drawing did; undefined if there were none. */
  #pressed: 'moved' | 'changed' | undefined
  #isFullTold = false
  /** The text that Tab could not complete further. Another Tab lists the choices. */
  #stuckAt: string | undefined

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
    this.#print(text)
  }

  printMarked(line: MarkedLine): void {
    const row = this.#printedRows
    const isCertain = this.#print(`${line.beforeMark}${line.mark}${line.afterMark}`)
    const column = cells(line.beforeMark.replace(COLOURS, ''))
    if (!isCertain) return
    const mark = { row, rows: this.#printedRows - row, column }
    this.#marks.set(line.key, [...(this.#marks.get(line.key) ?? []), mark])
  }

  changeMark(key: string, mark: string): boolean {
    const visible = (this.#marks.get(key) ?? []).filter(({ row }) => this.#isVisible(row))
    for (const { row, column } of visible)
      this.#writeAt(row, `${column > 0 ? `\u001b[${column}C` : ''}${mark}`)
    return visible.length > 0
  }

  replaceMarked(line: MarkedLine): boolean {
    const printed = this.#marks.get(line.key) ?? []
    const lines = `${line.beforeMark}${line.mark}${line.afterMark}`.split('\n')
    const rows = lines.reduce((sum, each) => sum + this.#rowsOf(each), 0)
    for (const mark of printed) {
      for (let row = mark.row; row < mark.row + mark.rows; row += 1)
        if (this.#isVisible(row)) this.#writeAt(row, CLEAR_LINE)
      // A longer text would overwrite the next line.
      const text = rows > mark.rows ? cut(lines[0] ?? '', this.columns) : lines.join('\r\n')
      if (this.#isVisible(mark.row)) this.#writeAt(mark.row, text)
    }
    return printed.length > 0 && printed.every(({ row }) => this.#isVisible(row))
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

  async showOnce(text: string, question: string): Promise<string | undefined> {
    const printedRows = this.#printedRows
    this.#output.write(`${this.#erased()}${ALTERNATE.on}`)
    this.#isAlternate = true
    this.print(text)
    const answer = await this.ask(question, { isSecret: true })
    this.#leaveAlternate()
    this.#printedRows = printedRows
    this.#redraw()
    return answer
  }

  interrupt(): void {
    this.#asking?.(undefined)
  }

  clear(): void {
    this.#drawnRows = 0
    this.#marks.clear()
    // In the first row, erasing the prompt would make some terminals keep it above the screen.
    this.#output.write(`${CLEAR_ALL}\r\n`)
    this.#draw()
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
    this.#leaveAlternate()
    this.#input.off('keypress', this.#onKeypress)
    this.#output.off('resize', this.#onResize)
    this.#input.setRawMode(false)
    this.#input.pause()
  }

  readonly #onKeypress = (text: string | undefined, key: Partial<Key> & { sequence?: string }): void => {
    const outcome = this.#editor.press({
      text: text ?? '',
      name: key.name ?? '',
      ctrl: key.ctrl ?? false,
      meta: key.meta ?? false,
    })
    switch (outcome.kind) {
      case 'submit':
        this.#isFullTold = false
        this.#redraw()
        return this.#take(outcome.line)
      case 'interrupt':
      case 'end':
        return this.#end()
      case 'changed':
        this.#isFullTold = false
        return this.#drawSoon('changed')
      case 'moved':
        return this.#drawSoon('moved')
      case 'full':
        return this.#tellFull(outcome.bytes)
      case 'complete':
        return void this.#complete()
      default:
        return
    }
  }

  #end(): void {
    if (this.#asking) this.#asking(undefined)
    else if (this.#handlers) this.#handlers.onEnd()
    // In raw mode the terminal does not send the signal itself.
    else process.kill(process.pid, 'SIGINT')
  }

  /** Draws once for all keys that arrive together, such as pasted text. */
  #drawSoon(what: 'moved' | 'changed'): void {
    if (this.#pressed === undefined) {
      setImmediate(() => {
        const pressed = this.#pressed
        this.#pressed = undefined
        this.#redraw()
        if (pressed === 'changed' && this.#isOpen) this.#handlers?.onTyping(this.#editor.text)
      })
    }
    this.#pressed = this.#pressed === 'changed' ? 'changed' : what
  }

  #tellFull(bytes: number): void {
    if (this.#isFullTold) return
    this.#isFullTold = true
    const number = (count: number): string => count.toLocaleString('en')
    this.print(
      `! This line would have ${number(bytes)} bytes, and at most ${number(MAX_LINE_BYTES)} are allowed. Nothing was inserted. /send <file> sends a file.`,
    )
  }

  async #complete(): Promise<void> {
    const text = this.#editor.textBeforeCursor
    const choices = (await this.#handlers?.onComplete(text)) ?? []
    // Another key may have been pressed meanwhile.
    if (choices.length === 0 || this.#editor.textBeforeCursor !== text) return
    const common = commonBeginning(choices)
    if (common !== text && common.length >= text.length) {
      this.#editor.replaceBeforeCursor(common)
      return this.#drawSoon('changed')
    }
    if (this.#stuckAt === text) {
      // The last word of each choice; of a path, what follows the last folder.
      const from = Math.max(text.lastIndexOf(' '), text.includes(' ') ? text.lastIndexOf('/') : -1) + 1
      const shown = choices.slice(0, MAX_SHOWN_CHOICES).map((choice) => choice.slice(from).trim())
      const rest = choices.length - shown.length
      this.print(`${shown.join('   ')}${rest > 0 ? `   and ${rest} more` : ''}`)
    }
    this.#stuckAt = text
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

  #leaveAlternate(): void {
    if (!this.#isAlternate) return
    this.#isAlternate = false
    this.#drawnRows = 0
    this.#output.write(ALTERNATE.off)
  }

  get #rows(): number {
    return this.#output.rows || 24
  }

  /** How many rows above the cursor a printed row is. */
  #rowsUpTo(row: number): number {
    return this.#printedRows - row + Math.max(0, this.#drawnRows - 1)
  }

  #isVisible(row: number): boolean {
    return this.#isOpen && this.#rowsUpTo(row) < this.#rows
  }

  /** Writes into a visible row, from its beginning. */
  #writeAt(row: number, text: string): void {
    this.#output.write(`\u001b7\u001b[${this.#rowsUpTo(row)}A\r${text}\u001b8`)
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

  /** Prints lines. @returns whether the number of their rows is certain */
  #print(text: string): boolean {
    let isCertain = true
    this.#output.write(this.#erased())
    for (const line of text.split('\n')) {
      this.#output.write(`${line}\r\n`)
      if (!this.#countRows(line)) isCertain = false
    }
    this.#draw()
    return isCertain
  }

  /** Counts the rows of a printed line. @returns whether their number is certain */
  #countRows(line: string): boolean {
    // Terminals disagree on the width of some characters. If that could change the number of rows, the marks
    // above are abandoned instead of being written into the wrong line.
    const unsure = line.match(UNSURE_WIDTHS)?.length ?? 0
    const isCertain = this.#rowsOf(line, unsure) === this.#rowsOf(line, -unsure)
    if (!isCertain) this.#marks.clear()
    this.#printedRows += this.#rowsOf(line)
    return isCertain
  }

  /** The rows of a line that may be wider than it seems by some columns. */
  #rowsOf(line: string, extra = 0): number {
    return Math.max(1, Math.ceil((cells(line.replace(COLOURS, '')) + extra) / this.columns))
  }
}
