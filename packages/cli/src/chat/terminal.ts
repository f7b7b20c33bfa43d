// The interface of a terminal, for people and for scripts.

/** A line whose mark can change after it was printed. */
export interface MarkedLine {
  /** Identifies the line, so that its mark can be changed. */
  readonly key: string
  readonly beforeMark: string
  readonly mark: string
  readonly afterMark: string
}

/** Where the chat prints and reads. */
export interface Terminal {
  /** Whether a person uses it: then it has a status line, and marks change in place. */
  readonly isInteractive: boolean
  /** The width in columns. */
  readonly columns: number
  /** Prints above the line being typed, which does not change. */
  print(text: string): void
  /** Prints a line with a mark. */
  printMarked(line: MarkedLine): void
  /** Changes a mark in place. Returns false if the line has scrolled away. */
  changeMark(key: string, mark: string): boolean
  /**
   * Writes a line in the place of the printed line with its key. Returns false if that line may not have been
   * on the screen as a whole; what was on the screen is erased.
   */
  replaceMarked(line: MarkedLine): boolean
  setPrompt(prompt: string): void
  /** A line above the prompt, shown only to people; "" for none. */
  setStatus(status: string): void
  /**
   * Asks a question. Resolves with the next line, or undefined at the end of input. A secret answer is not
   * left on the screen.
   */
  ask(question: string, options?: { readonly isSecret?: boolean }): Promise<string | undefined>
  /** Shows a text on a screen of its own until Enter. The text does not stay on the screen or above it. */
  showOnce(text: string, question: string): Promise<string | undefined>
  /** Ends the question being asked, as if the input had ended. */
  interrupt(): void
  /** Erases the screen and what has scrolled away. */
  clear(): void
  /** Passes every line to the handlers from now on. Calls `onEnd` once, at the end of input or on Ctrl-C. */
  start(handlers: TerminalHandlers): void
  /** Restores the terminal's state. */
  close(): void
}

/** The chat's handlers of terminal events. */
export interface TerminalHandlers {
  onLine(line: string): void
  /** The line being typed has changed. */
  onTyping(line: string): void
  /** Completes the text before the cursor: returns what may replace it. */
  onComplete(text: string): Promise<readonly string[]>
  onEnd(): void
}
