// Time, lots and sockets in the hands of a test.
import type { Clock, SocketLike } from '../src/client.ts'

interface Timer {
  readonly at: number
  readonly run: () => void
}

/** A clock that stands still until it is moved. */
export class TestClock implements Clock {
  #now = 1_000_000
  readonly #timers = new Set<Timer>()

  now(): number {
    return this.#now
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** When the timers that are set are due, from now, in milliseconds. */
  get waits(): number[] {
    return [...this.#timers].map(({ at }) => at - this.#now).toSorted((a, b) => a - b)
  }

  /** Moves time on, running what becomes due in order, and lets what follows from it happen. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    await settle()
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0]
      if (!due) break
      this.#timers.delete(due)
      this.#now = Math.max(this.#now, due.at)
      due.run()
      await settle()
    }
    this.#now = end
  }
}

/** Lets promises that wait for nothing but each other come to rest. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 60; turn += 1) await Promise.resolve()
}

type Listener = (event: never) => void

/** A socket whose other end is the test. */
export class TestSocket implements SocketLike {
  readonly url: string
  readonly sent: Record<string, unknown>[] = []
  closedWith: number | undefined
  readonly #listeners = new Map<string, Listener[]>()

  constructor(url: string) {
    this.url = url
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text))
  }

  close(code?: number): void {
    this.closedWith = code ?? 1005
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener])
  }

  /** Has the socket say that something happened. */
  emit(type: 'open'): void
  emit(type: 'message', event: { data: unknown }): void
  emit(type: 'close', event: { code: number; reason: string }): void
  emit(type: string, event: unknown = {}): void {
    // The listeners were added for the type, whose event this is.
    for (const listener of this.#listeners.get(type) ?? []) listener(event as never)
  }

  /** Has a frame of the relay come in. */
  receive(frame: Record<string, unknown>): void {
    this.emit('message', { data: JSON.stringify(frame) })
  }

  framesOf(type: string): Record<string, unknown>[] {
    return this.sent.filter((frame) => frame.type === type)
  }
}
