// A WebSocket of one account. It tells every frame as it came, and waits until the relay has handled what was
// sent.
import type { WireAccount } from '../packages/relay/test/wire.ts'
import { Finding } from './inputs.ts'

const MOST_MS = 60_000

/** One connection. */
export class Line {
  /** How many `sync` frames were sent on it. */
  syncs = 0
  /** The highest `seq` received in each conversation, and how often it went back. */
  readonly heights = new Map<string, number>()
  setbacks = 0
  /** The messages that came on it. */
  readonly received = new Set<string>()
  isClosed = false
  readonly #socket: WebSocket
  readonly #heard: (text: string, line: Line) => void
  readonly #opened: Promise<void>
  readonly #closed: Promise<number>
  #pongs = 0
  #pings = 0
  #syncEnds = 0
  #wake: () => void = () => undefined

  /** @param heard gets the text of every frame */
  private constructor(url: string, heard: (text: string, line: Line) => void) {
    this.#heard = heard
    this.#socket = new WebSocket(url)
    this.#socket.addEventListener('message', ({ data }) => this.#received(`${data}`))
    this.#closed = new Promise((resolve) => {
      this.#socket.addEventListener('close', ({ code }) => {
        this.isClosed = true
        resolve(code)
        this.#wake()
      })
    })
    this.#opened = new Promise((resolve) => this.#socket.addEventListener('open', () => resolve()))
  }

  /** Opens a connection with a ticket. @returns undefined if the relay refuses it */
  static async open(
    account: WireAccount,
    ticket: string,
    heard: (text: string, line: Line) => void,
  ): Promise<Line | undefined> {
    const line = new Line(`${account.wsUrl()}?user_uuid=${account.uuid}&ticket=${ticket}`, heard)
    await Promise.race([line.#opened, line.#closed])
    return line.isClosed ? undefined : line
  }

  send(data: string | Uint8Array<ArrayBuffer>): void {
    if (!this.isClosed) this.#socket.send(data)
  }

  /** Waits until a ping is answered, or the connection is closed. @throws Finding after a minute */
  async settled(): Promise<void> {
    this.#pings += 1
    this.send('{"type":"ping"}')
    await this.#until('pong', () => this.#pongs >= this.#pings)
  }

  /** Waits for the end of the backlog, or of the connection. @throws Finding after a minute */
  async synced(): Promise<void> {
    await this.#until('sync_end', () => this.#syncEnds > 0)
  }

  async #until(what: string, isSo: () => boolean): Promise<void> {
    let isLate = false
    const late = setTimeout(() => {
      isLate = true
      this.#wake()
    }, MOST_MS)
    while (!isLate && !this.isClosed && !isSo()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    clearTimeout(late)
    if (isLate) throw new Finding(`no ${what} came in a minute`)
  }

  /** Closes the connection. @returns the code that it was closed with */
  async close(code = 1000): Promise<number> {
    this.#socket.close(code)
    return await this.#closed
  }

  #received(text: string): void {
    this.#heard(text, this)
    if (text.startsWith('{"type":"pong"')) this.#pongs += 1
    else if (text.startsWith('{"type":"sync_end"')) this.#syncEnds += 1
    else return
    this.#wake()
  }
}
