// A terminal for scripts: it reads and prints plain lines.
import { createInterface, type Interface } from 'node:readline'
import type { MarkedLine, Terminal, TerminalHandlers } from './terminal.ts'

/** Lines over pipes. */
export class PlainTerminal implements Terminal {
  readonly isInteractive = false
  readonly columns = 80
  readonly #output: NodeJS.WritableStream
  readonly #lines: Interface
  readonly #waiting: string[] = []
  #asking: ((line: string | undefined) => void) | undefined
  #handlers: TerminalHandlers | undefined
  #isEnded = false

  constructor(input: NodeJS.ReadableStream, output: NodeJS.WritableStream) {
    this.#output = output
    this.#lines = createInterface({ input, terminal: false })
    this.#lines.on('line', (line) => this.#take(line))
    this.#lines.on('close', () => this.#end())
  }

  print(text: string): void {
    this.#output.write(`${text}\n`)
  }

  printMarked(line: MarkedLine): void {
    this.print(`${line.beforeMark}${line.mark}${line.afterMark}`)
  }

  changeMark(): boolean {
    return false
  }

  replaceMarked(): boolean {
    return false
  }

  showOnce(text: string, question: string): Promise<string | undefined> {
    this.print(text)
    return this.ask(question)
  }

  interrupt(): void {
    this.#asking?.(undefined)
    this.#asking = undefined
  }

  clear(): void {}

  setPrompt(): void {}

  setStatus(): void {}

  ask(question: string): Promise<string | undefined> {
    this.print(question)
    const line = this.#waiting.shift()
    if (line !== undefined || this.#isEnded) return Promise.resolve(line)
    return new Promise((resolve) => {
      this.#asking = resolve
    })
  }

  start(handlers: TerminalHandlers): void {
    this.#handlers = handlers
    for (const line of this.#waiting.splice(0)) handlers.onLine(line)
    if (this.#isEnded) handlers.onEnd()
  }

  close(): void {
    this.#handlers = undefined
    this.#lines.close()
  }

  #take(line: string): void {
    const asking = this.#asking
    this.#asking = undefined
    if (asking) asking(line)
    else if (this.#handlers) this.#handlers.onLine(line)
    else this.#waiting.push(line)
  }

  #end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#asking?.(undefined)
    this.#handlers?.onEnd()
  }
}
