// `sotto chat` processes for tests: one in a pseudo-terminal, with a screen that interprets the output,
// and one over pipes.
import { join } from 'node:path'

/** The program of this clone. */
const CLONE = [process.execPath, join(import.meta.dir, '../src/main.ts')]
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const SEQUENCE = /^\u001b(?:\[([?0-9;]*)([A-Za-z])|[78])/
/** Long enough for a busy machine, and for a client with a long random delay before it reconnects. */
const PATIENCE_MS = 90_000

/** Waits until `condition` is true. On failure, the error contains `what` and the actual output. */
export async function until(what: string, condition: () => boolean, output: () => string): Promise<void> {
  const late = performance.now() + PATIENCE_MS
  while (!condition()) {
    if (performance.now() > late) throw new Error(`not in time: ${what}; the output was:\n${output()}`)
    await Bun.sleep(10)
  }
}

/** A minimal terminal emulator that keeps the content of each line. */
export class Screen {
  readonly columns: number
  readonly rows: number
  #lines: string[][] = [[]]
  #row = 0
  #column = 0
  #saved = { row: 0, column: 0 }
  #normal: { lines: string[][]; row: number; column: number } = { lines: [[]], row: 0, column: 0 }
  #rest = ''

  constructor(columns: number, rows: number) {
    this.columns = columns
    this.rows = rows
  }

  /** All lines, including those that scrolled away. */
  get lines(): string[] {
    return this.#lines.map((line) =>
      Array.from(line, (cell) => cell ?? ' ')
        .join('')
        .trimEnd(),
    )
  }

  get text(): string {
    return this.lines.join('\n')
  }

  /** The cursor's line and column. */
  get cursor(): { readonly line: string; readonly column: number } {
    return { line: this.lines[this.#row] ?? '', column: this.#column }
  }

  write(text: string): void {
    let left = this.#rest + text
    this.#rest = ''
    while (left !== '') {
      if (left.startsWith('\u001b')) {
        const [sequence, parameter = '', command = ''] = SEQUENCE.exec(left) ?? []
        if (sequence === undefined) {
          this.#rest = left
          return
        }
        this.#control(sequence, parameter, command)
        left = left.slice(sequence.length)
        continue
      }
      const character = String.fromCodePoint(left.codePointAt(0) ?? 0)
      this.#put(character)
      left = left.slice(character.length)
    }
  }

  #put(character: string): void {
    if (character === '\r') this.#column = 0
    else if (character === '\n') this.#goTo(this.#row + 1)
    else if (character >= ' ') {
      if (this.#column >= this.columns) {
        this.#column = 0
        this.#goTo(this.#row + 1)
      }
      const line = this.#lines[this.#row]
      if (line) {
        while (line.length < this.#column) line.push(' ')
        line[this.#column] = character
      }
      this.#column += 1
    }
  }

  #control(sequence: string, parameter: string, command: string): void {
    const count = Number(parameter) || 1
    const top = Math.max(0, this.#lines.length - this.rows)
    if (sequence === '\u001b7') this.#saved = { row: this.#row, column: this.#column }
    else if (sequence === '\u001b8') [this.#row, this.#column] = [this.#saved.row, this.#saved.column]
    else if (parameter === '?1049') this.#switch(command === 'h')
    else if (command === 'A') this.#goTo(Math.max(top, this.#row - count))
    else if (command === 'C') this.#column += count
    else if (command === 'H') [this.#row, this.#column] = [top, 0]
    else if (command === 'K') this.#lines[this.#row] = []
    else if (command === 'J') this.#erase(parameter, top)
  }

  #erase(parameter: string, top: number): void {
    if (parameter === '2') this.#lines = this.#lines.map((line, row) => (row < top ? line : []))
    else if (parameter === '3') {
      this.#lines.splice(0, top)
      this.#row -= top
    } else {
      this.#lines.length = this.#row + 1
      const line = this.#lines[this.#row]
      if (line) line.length = Math.min(line.length, this.#column)
    }
  }

  /** Switches to the alternate screen, which is empty at first, or back. */
  #switch(isAlternate: boolean): void {
    if (isAlternate) this.#normal = { lines: this.#lines, row: this.#row, column: this.#column }
    const { lines, row, column } = isAlternate ? { lines: [[]], row: 0, column: 0 } : this.#normal
    this.#lines = lines
    this.#row = row
    this.#column = column
  }

  #goTo(row: number): void {
    this.#row = row
    while (this.#lines.length <= row) this.#lines.push([])
  }
}

/** A chat in a pseudo-terminal, as a person uses it. */
export class TtyChat {
  readonly screen: Screen
  readonly process: Bun.Subprocess
  /** All output, unprocessed. */
  raw = ''

  constructor(args: readonly string[], env: Record<string, string> = {}, columns = 100, rows = 40) {
    this.screen = new Screen(columns, rows)
    const decoder = new TextDecoder()
    this.process = Bun.spawn([...CLONE, 'chat', ...args], {
      env: { PATH: process.env.PATH ?? '', TERM: 'xterm-256color', LANG: 'C.UTF-8', ...env },
      terminal: {
        cols: columns,
        rows,
        data: (_, bytes) => {
          const text = decoder.decode(bytes, { stream: true })
          this.raw += text
          this.screen.write(text)
        },
      },
    })
  }

  /** Types a text, without Enter. */
  type(text: string): void {
    this.process.terminal?.write(text)
  }

  enter(line: string): void {
    this.type(`${line}\r`)
  }

  /** Waits until a line of the screen matches. @returns the line */
  async sees(pattern: RegExp): Promise<string> {
    await until(
      String(pattern),
      () => this.screen.lines.some((line) => pattern.test(line)),
      () => this.screen.text,
    )
    return this.screen.lines.find((line) => pattern.test(line)) ?? ''
  }

  /** Waits until no line of the screen matches. */
  async seesNoMore(pattern: RegExp): Promise<void> {
    await until(
      `no ${pattern}`,
      () => !this.screen.lines.some((line) => pattern.test(line)),
      () => this.screen.text,
    )
  }

  /** Waits until the raw output, including escape sequences, contains a text. */
  async writes(text: string): Promise<void> {
    await until(
      JSON.stringify(text),
      () => this.raw.includes(text),
      () => JSON.stringify(this.raw),
    )
  }

  /** Waits until the cursor's line matches. */
  async prompts(pattern: RegExp): Promise<void> {
    await until(
      `prompt ${pattern}`,
      () => pattern.test(this.screen.cursor.line),
      () => this.screen.text,
    )
  }

  async leave(): Promise<number> {
    this.type('\u0003')
    const code = await this.process.exited
    this.process.terminal?.close()
    return code
  }
}

/** A chat over pipes, as a script uses it. */
export class PipedChat {
  readonly process: Bun.Subprocess<'pipe', 'pipe', 'pipe'>
  output = ''

  /** @param program what to run instead of the program of this clone */
  constructor(args: readonly string[], env: Record<string, string> = {}, program: readonly string[] = CLONE) {
    this.process = Bun.spawn([...program, 'chat', ...args], {
      env: { PATH: process.env.PATH ?? '', LANG: 'C.UTF-8', ...env },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    void this.#read()
  }

  enter(line: string): void {
    this.process.stdin.write(`${line}\n`)
    void this.process.stdin.flush()
  }

  async sees(pattern: RegExp): Promise<string> {
    await until(
      String(pattern),
      () => pattern.test(this.output),
      () => this.output,
    )
    return pattern.exec(this.output)?.[0] ?? ''
  }

  /** Ends the chat's input and waits until the chat exits. @returns its exit code */
  async end(): Promise<number> {
    void this.process.stdin.end()
    return this.process.exited
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder()
    for await (const bytes of this.process.stdout) this.output += decoder.decode(bytes, { stream: true })
  }
}
