// What the tests ask of a browser of another engine than Chromium's. Each is driven by its own protocol.

/** An element that a person uses. */
export interface Control {
  /** Clicks its middle. @throws Error if it has gone, is covered, or moved away */
  click(): Promise<void>
  /** Types into it, after what is there. A line feed presses Enter. */
  type(text: string): Promise<void>
  /** Chooses a file in it. */
  choose(path: string): Promise<void>
}

/** A tab. */
export interface Tab {
  open(url: string): Promise<void>
  reload(): Promise<void>
  /** Computes a JavaScript expression in the page, and awaits it. The result is JSON. */
  compute(expression: string): Promise<unknown>
  /** The same, when the result is an element. */
  find(expression: string): Promise<Control>
  /** A PNG of what is visible. */
  picture(): Promise<Uint8Array>
  /** Closes the tab, and forgets what its profile has stored. */
  close(): Promise<void>
}

/** A running browser. */
export interface Engine {
  readonly name: 'Firefox' | 'WebKitGTK'
  /** Opens a tab in a profile without data. */
  newProfile(): Promise<Tab>
  stop(): Promise<void>
}

/** For how long an expression is awaited: as long as a busy machine may take to show something. */
export const PATIENCE_MS = 90_000
