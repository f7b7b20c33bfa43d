// A clock and a socket that a test controls.
import type { Clock, SocketLike } from '../src/client.ts'

interface Timer {
  readonly at: number
  readonly run: () => void
}

/** A clock that stands still until the test advances it. */
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

  /** The remaining time of each pending timer, in milliseconds, the shortest first. */
  get waits(): number[] {
    return [...this.#timers].map(({ at }) => at - this.#now).toSorted((a, b) => a - b)
  }

  /** Advances the time and runs the due timers in order. Promise callbacks run after each timer. */
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

/** Lets pending promise callbacks run. It waits for no timer and no input. */
export async function settle(): Promise<void> {
  for (let step = 0; step < 60; step += 1) await Promise.resolve()
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

  /** Fires an event of the socket. */
  emit(type: 'open'): void
  emit(type: 'message', event: { data: unknown }): void
  emit(type: 'close', event: { code: number; reason: string }): void
  emit(type: string, event: unknown = {}): void {
    // The listeners were added for this event type, so the event has the type they expect.
    for (const listener of this.#listeners.get(type) ?? []) listener(event as never)
  }

  /** Delivers a frame from the relay. */
  receive(frame: Record<string, unknown>): void {
    this.emit('message', { data: JSON.stringify(frame) })
  }

  framesOf(type: string): Record<string, unknown>[] {
    return this.sent.filter((frame) => frame.type === type)
  }
}
