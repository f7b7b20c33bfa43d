// A line between a client and its relay that a test makes bad: it takes a moment, it breaks, and it answers
// messages in the relay's place.
import { type ErrorCode, errors } from '@sotto/protocol'
import type { SocketClass, SocketLike } from '../src/client.ts'

type Listener = (event: never) => void

/** How the next message on a line fares: it passes, or it is refused with this code and not passed on. */
export type Fate = 'passes' | ErrorCode

/** The lines of one client, one after another. */
export class BadLine {
  readonly Socket: SocketClass
  /** The fates of the next messages. */
  readonly fates: Fate[] = []
  /** The messages that were passed on. A relay that may have one never refuses it for good. */
  readonly passed: Set<string>
  /** The codes of the refusals that the relay itself sent. */
  readonly refusals: string[] = []
  /** The most messages that had no answer at one time. */
  mostUnderWay = 0
  #open: BadSocket | undefined
  readonly #delayMs: () => number

  /**
   * @param delayMs how long the next frame takes, in either direction; frames stay in order
   * @param passed the messages that earlier lines of the client passed on
   */
  constructor(delayMs: () => number, passed = new Set<string>()) {
    this.#delayMs = delayMs
    this.passed = passed
    const connect = (url: string): BadSocket => {
      this.#open = new BadSocket(url, this, this.#delayMs)
      return this.#open
    }
    this.Socket = class implements SocketLike {
      readonly #socket: BadSocket
      constructor(url: string) {
        this.#socket = connect(url)
      }
      send(text: string): void {
        this.#socket.send(text)
      }
      close(): void {
        this.#socket.close()
      }
      addEventListener(type: string, listener: Listener): void {
        this.#socket.addEventListener(type, listener)
      }
    }
  }

  /**
   * Breaks the present connection: the client hears nothing any more.
   * @param arrivesLate whether what the client has sent still reaches the relay
   */
  cut(arrivesLate: boolean): void {
    this.#open?.cut(arrivesLate)
  }
}

class BadSocket {
  readonly #socket: WebSocket
  readonly #line: BadLine
  readonly #delayMs: () => number
  readonly #closeListeners: Listener[] = []
  readonly #messageListeners: Listener[] = []
  readonly #underWay = new Set<unknown>()
  #out: Promise<void> = Promise.resolve()
  #in: Promise<void> = Promise.resolve()
  #isHeard = true
  #reachesRelay = true

  constructor(url: string, line: BadLine, delayMs: () => number) {
    this.#line = line
    this.#delayMs = delayMs
    this.#socket = new WebSocket(url)
    this.#socket.addEventListener('message', ({ data }) => this.#answer(String(data)))
  }

  send(text: string): void {
    const frame = JSON.parse(text)
    if (frame.type === 'msg') {
      this.#underWay.add(frame.id)
      this.#line.mostUnderWay = Math.max(this.#line.mostUnderWay, this.#underWay.size)
      const fate = this.#line.fates.shift() ?? 'passes'
      const { id, conv_id } = frame
      const isPassed = this.#line.passed.has(id)
      if (fate !== 'passes' && !(isPassed && errors[fate].retry === 'never')) {
        this.#answer(JSON.stringify({ type: 'error', error: fate, message: '', id, conv_id }))
        return
      }
      this.#line.passed.add(id)
    }
    this.#out = this.#out.then(async () => {
      await Bun.sleep(this.#delayMs())
      if (this.#reachesRelay && this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text)
    })
  }

  close(): void {
    this.#isHeard = false
    this.#socket.close()
  }

  cut(arrivesLate: boolean): void {
    this.#isHeard = false
    this.#reachesRelay = arrivesLate
    void this.#out.then(() => this.#socket.close())
    for (const listener of this.#closeListeners) listener({ code: 1006, reason: '' } as never)
  }

  addEventListener(type: string, listener: Listener): void {
    if (type === 'message') this.#messageListeners.push(listener)
    else if (type === 'close') this.#closeListeners.push(listener)
    this.#socket.addEventListener(type, (event) => {
      if (this.#isHeard && type !== 'message') listener(event as never)
    })
  }

  #answer(data: string): void {
    this.#in = this.#in.then(async () => {
      await Bun.sleep(this.#delayMs())
      if (!this.#isHeard) return
      const frame = JSON.parse(data)
      this.#underWay.delete(frame.id)
      if (frame.type === 'error') this.#line.refusals.push(frame.error)
      for (const listener of this.#messageListeners) listener({ data } as never)
    })
  }
}
