// Records everything that a client sends: URLs, headers, bodies and frames.
import type { FetchLike, SocketClass, SocketLike } from '../src/client.ts'

/** A recorded HTTP request. */
export interface RecordedCall {
  readonly method: string
  readonly path: string
  readonly authorization: string | null
  readonly body: Record<string, unknown>
}

export class Recorder {
  readonly calls: RecordedCall[] = []
  readonly frames: Record<string, unknown>[] = []
  /** Everything sent, as text: URLs, headers, bodies and frames. */
  readonly sent: string[] = []

  readonly fetch: FetchLike = (url, init) => {
    const headers = new Headers(init.headers)
    const body = typeof init.body === 'string' ? init.body : ''
    this.sent.push(url, JSON.stringify([...headers]), body)
    this.calls.push({
      method: init.method ?? 'GET',
      path: new URL(url).pathname,
      authorization: headers.get('authorization'),
      body: body === '' ? {} : JSON.parse(body),
    })
    return fetch(url, init)
  }

  readonly WebSocket: SocketClass = recordingSocket(this)

  framesOf(type: string): Record<string, unknown>[] {
    return this.frames.filter((frame) => frame.type === type)
  }

  callsOf(path: string): RecordedCall[] {
    return this.calls.filter((call) => call.path === path)
  }
}

function recordingSocket(recorder: Recorder): SocketClass {
  return class implements SocketLike {
    readonly #socket: WebSocket
    constructor(url: string) {
      recorder.sent.push(url)
      this.#socket = new WebSocket(url)
    }
    send(text: string): void {
      recorder.sent.push(text)
      recorder.frames.push(JSON.parse(text))
      this.#socket.send(text)
    }
    close(code?: number): void {
      this.#socket.close(code)
    }
    addEventListener(type: string, listener: (event: never) => void): void {
      // The listener was added for this event type, so the event has the type it expects.
      this.#socket.addEventListener(type, (event) => listener(event as never))
    }
  }
}
