// What an attack sends with: requests from the attacker's address, WebSockets of its accounts, and a pace
// that spends what a rate allows evenly over the phase.
import type { Socket } from 'node:net'
import { type RateName, rates } from '@sotto/protocol'
import { RawSocket } from '../load/raw-socket.ts'
import { connectFrom, type HttpAnswer, HttpConnection } from './http-connection.ts'
import type { Report, Scene, Stranger } from './scene.ts'

/** HTTP connections that one attacker uses at once. */
const MOST_CONNECTIONS = 32
const NOT_SENT: HttpAnswer = { status: 0, body: '', bytes: 0 }

/** What a request has besides its method and path. */
interface RequestOptions {
  /** Whose token it has; nobody's if undefined. */
  readonly as?: Stranger | undefined
  /** An object is sent as JSON. */
  readonly body?: object | string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

export class Attacker {
  readonly scene: Scene
  readonly #idle: HttpConnection[] = []
  readonly #waiting: ((connection: HttpConnection | undefined) => void)[] = []
  #opened = 0
  #endsAt = Number.POSITIVE_INFINITY
  #startedAt = performance.now()
  #statuses: Record<string, number> = {}
  #frames = 0
  #connections = 0
  #sentBytes = 0
  #receivedBytes = 0

  constructor(scene: Scene) {
    this.scene = scene
  }

  /** The attack begins: from now on it is counted, and it ends after the seconds of the scene. */
  begin(): void {
    this.#startedAt = performance.now()
    this.#endsAt = this.#startedAt + this.scene.seconds * 1000
    this.#statuses = {}
    this.#frames = 0
    this.#connections = 0
    this.#sentBytes = 0
    this.#receivedBytes = 0
  }

  get isOver(): boolean {
    return performance.now() >= this.#endsAt
  }

  get report(): Report {
    return {
      ms: performance.now() - this.#startedAt,
      statuses: this.#statuses,
      frames: this.#frames,
      connections: this.#connections,
      sentBytes: this.#sentBytes,
      receivedBytes: this.#receivedBytes,
    }
  }

  /** @throws Error if the attack has no account of this number */
  stranger(index = 0): Stranger {
    const stranger = this.scene.strangers[index]
    if (!stranger) throw new Error(`the attack has no account ${index}`)
    return stranger
  }

  /** How often a rate allows something within the seconds of the scene. */
  allowed(name: RateName): number {
    const { burst, perSeconds } = rates[name]
    return burst + Math.floor((burst / perSeconds) * this.scene.seconds)
  }

  /**
   * Does `work` so often, evenly over what is left of the phase. What was not begun by its end is left out.
   */
  async paced(count: number, work: (index: number) => Promise<unknown> | unknown): Promise<void> {
    const start = performance.now()
    const ms = this.#endsAt - start
    const running: Promise<unknown>[] = []
    const failures: unknown[] = []
    for (let index = 0; index < count && !this.isOver; ) {
      const due = Math.min(count, ((performance.now() - start) / ms) * count)
      for (; index < due; index++) {
        const done = Promise.resolve(work(index))
        running.push(done.catch((error: unknown) => failures.push(error)))
      }
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    await Promise.all(running)
    if (failures.length > 0) throw failures[0]
  }

  /** Sends a request to a path under `/api/v1`, or to one of the relay that begins with `//`. */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<HttpAnswer> {
    const connection = await this.#take()
    if (!connection) return NOT_SENT
    const body = bytesOf(options.body)
    const head = this.headOf(method, path, { ...options, length: body.length })
    this.#sentBytes += head.length + body.length
    const answer = await connection.request(head, body)
    this.#give(connection)
    this.#statuses[answer.status] = (this.#statuses[answer.status] ?? 0) + 1
    this.#receivedBytes += answer.bytes
    return answer
  }

  /** The head of a request with a body of so many bytes. */
  headOf(method: string, path: string, options: RequestOptions & { readonly length: number }): string {
    const target = path.startsWith('//') ? path.slice(1) : `/api/v1${path}`
    const lines = [`${method} ${target} HTTP/1.1`, 'host: 127.0.0.1', `content-length: ${options.length}`]
    if (options.as) lines.push(`authorization: Bearer ${options.as.token}`)
    for (const [name, value] of Object.entries(options.headers ?? {})) lines.push(`${name}: ${value}`)
    if (this.scene.isFloor) lines.push(`floor-bytes: ${this.scene.answerBytes}`)
    return `${lines.join('\r\n')}\r\n\r\n`
  }

  /**
   * Opens a connection of its own and sends these bytes.
   * @param onWritten called when they are written, or when the connection is closed
   */
  raw(pieces: readonly (string | Uint8Array)[], onWritten: () => void = () => undefined): Socket {
    const socket = connectFrom(this.scene.url)
    this.#connections += 1
    for (const piece of pieces) {
      this.#sentBytes += piece.length
      socket.write(piece)
    }
    socket.once('close', onWritten)
    socket.write('', onWritten)
    return socket
  }

  /** Opens a WebSocket of an account. */
  async socket(stranger: Stranger): Promise<RawSocket> {
    this.#connections += 1
    const socket = await RawSocket.open(
      `${this.scene.url}/ws?user_uuid=${stranger.uuid}&token=${stranger.token}`,
    )
    socket.onFrame = (_bytes, start, end) => {
      this.#receivedBytes += end - start
    }
    return socket
  }

  /**
   * Opens a WebSocket, or counts the status of the answer that refuses it.
   * @param onClose called when an opened one is closed
   */
  async tryToOpen(stranger: Stranger, onClose: () => void): Promise<RawSocket | undefined> {
    try {
      const socket = await this.socket(stranger)
      socket.onClose = onClose
      return socket
    } catch (error) {
      const status = /HTTP\/1\.1 (\d{3})/.exec(String(error))?.[1] ?? '0'
      this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
      return undefined
    }
  }

  /** Sends a frame. */
  send(socket: RawSocket, frame: string): void {
    this.#frames += 1
    this.#sentBytes += frame.length
    socket.send(frame)
  }

  async #take(): Promise<HttpConnection | undefined> {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      if (idle.isOpen) return idle
      this.#opened -= 1
    }
    if (this.#opened < MOST_CONNECTIONS) {
      this.#opened += 1
      return new HttpConnection(this.scene.url)
    }
    return await new Promise((resolve) => this.#waiting.push(resolve))
  }

  #give(connection: HttpConnection): void {
    const next = this.#waiting.shift()
    if (next && this.isOver) {
      // What waited for a connection until the end is not sent any more.
      for (const waiting of [next, ...this.#waiting.splice(0)]) waiting(undefined)
      this.#idle.push(connection)
    } else if (next && connection.isOpen) next(connection)
    else if (next) next(new HttpConnection(this.scene.url))
    else this.#idle.push(connection)
  }
}

function bytesOf(body: RequestOptions['body']): string | Uint8Array {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) return body ?? ''
  return JSON.stringify(body)
}
