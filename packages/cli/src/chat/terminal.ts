// What the chat asks of a terminal, whether people or scripts are at it.

/** A line that can be changed after it was printed, by its mark alone. */
export interface MarkedLine {
  /** Names the line, so that its mark can be changed. */
  readonly key: string
  readonly beforeMark: string
  readonly mark: string
  readonly afterMark: string
}

/** Where the chat prints and reads. */
export interface Terminal {
  /** Whether people are at it: then there are colours, a status line and marks that change in place. */
  readonly isInteractive: boolean
  /** How many columns there are. */
  readonly columns: number
  /** Prints above the line being typed, which stays as it is. */
  print(text: string): void
  /** Prints a line with a mark. */
  printMarked(line: MarkedLine): void
  /** Changes a mark where it stands; false where it cannot be reached any more. */
  changeMark(key: string, mark: string): boolean
  setPrompt(prompt: string): void
  /** A line just above the prompt; "" for none. Shown to people only. */
  setStatus(status: string): void
  /** Asks, and resolves with the next line; undefined at the end of input. A secret answer does not stay on the screen. */
  ask(question: string, options?: { readonly isSecret?: boolean }): Promise<string | undefined>
  /** Takes every line from now on. At the end of input, or on Ctrl-C, `onEnd` is called once. */
  start(handlers: TerminalHandlers): void
  /** Gives the terminal back as it was. */
  close(): void
}

/** What a terminal tells the chat. */
export interface TerminalHandlers {
  onLine(line: string): void
  /** The line being typed has changed. */
  onTyping(line: string): void
  onEnd(): void
}
