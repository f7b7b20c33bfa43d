// A WebSocket of a simulation: both ends, and the line between them. Frames keep their order, as those of TCP
// do.
import type { ServerWebSocket } from 'bun'
import type { SocketData } from '../../packages/relay/src/gateway/gateway.ts'
import type { SimulatedNode } from './node.ts'
import type { Owner, Schedule } from './schedule.ts'
import type { Weather } from './weather.ts'

/** What the kernels take before bytes count as unread. */
const KERNEL_BYTES = 400

/** What the client's end of a line calls. */
export interface LineEvents {
  readonly onOpen: () => void
  readonly onFrame: (text: string) => void
  readonly onClosed: () => void
}

interface Parts {
  readonly schedule: Schedule
  readonly weather: Weather
  readonly client: Owner
  readonly node: SimulatedNode
  readonly token: string
  readonly events: LineEvents
}

export class Line {
  readonly #parts: Parts
  /** Nothing arrives any more, in neither direction, and nobody is told. */
  #isCut = false
  #isClosedByClient = false
  #isGone = false
  #upAt = 0
  #downAt = 0
  /** Bytes that were sent to the client and did not arrive. */
  #unread = 0
  readonly #socket: ServerWebSocket<SocketData>

  /** The node at its other end. */
  get node(): SimulatedNode {
    return this.#parts.node
  }

  /** Connects a client to a node. */
  constructor(parts: Parts) {
    this.#parts = parts
    this.#socket = this.#serverEnd()
    this.#up('connect', () => void this.#connect())
  }

  /** The client sends a frame. */
  send(text: string): void {
    if (this.#isClosedByClient) return
    this.#up(`receives ${text.slice(0, 90)}`, () => {
      if (!this.#isGone) this.#parts.node.webSocket.message?.(this.#socket, text)
    })
  }

  /** The client closes. */
  close(): void {
    if (this.#isClosedByClient) return
    this.#up('connection closed by the client', () => this.#gone())
    this.#isClosedByClient = true
  }

  /** The network loses it. @param isTold whether the node learns of it */
  cut(isTold: boolean): void {
    this.#isCut = true
    const { schedule, weather, node, client, events } = this.#parts
    if (isTold) schedule.after(weather.waitMs('frame'), node.owner, 'connection reset', () => this.#gone())
    schedule.after(weather.waitMs('frame'), client, 'connection lost', () => {
      this.#isClosedByClient = true
      events.onClosed()
    })
  }

  async #connect(): Promise<void> {
    const { node, token } = this.#parts
    try {
      const admission = await node.admit(token)
      if (this.#isGone) return
      this.#socket.data = { admission, onClosed: () => undefined }
      this.#down('connection opens', 0, () => this.#parts.events.onOpen())
      node.webSocket.open?.(this.#socket)
    } catch {
      this.#isGone = true
      this.#closed()
    }
  }

  /** Towards the node. */
  #up(what: string, run: () => void): void {
    const { schedule, weather, node, client } = this.#parts
    this.#upAt = Math.max(this.#upAt + 0.0001, schedule.now + weather.waitMs('frame'))
    schedule.after(this.#upAt - schedule.now, node.owner, `${client.name}: ${what}`, () => {
      if (!this.#isCut) run()
    })
  }

  /** Towards the client. */
  #down(what: string, bytes: number, run: () => void): void {
    const { schedule, weather, client } = this.#parts
    this.#unread += bytes
    this.#downAt = Math.max(this.#downAt + 0.0001, schedule.now + weather.waitMs('frame'))
    schedule.after(this.#downAt - schedule.now, client, what, () => {
      if (this.#isCut || this.#isClosedByClient) return
      this.#arrived(bytes)
      run()
    })
  }

  #arrived(bytes: number): void {
    const { schedule, weather, node } = this.#parts
    const wasFull = this.#unread > KERNEL_BYTES
    this.#unread -= bytes
    if (!wasFull || this.#unread > KERNEL_BYTES) return
    schedule.after(weather.waitMs('frame'), node.owner, 'drain', () => {
      if (!this.#isGone) node.webSocket.drain?.(this.#socket)
    })
  }

  /** The node's end is closed. */
  #gone(): void {
    if (this.#isGone) return
    this.#isGone = true
    if (this.#socket.data) this.#parts.node.webSocket.close?.(this.#socket, 1000, '')
  }

  #closed(): void {
    this.#down('connection closed by the relay', 0, () => {
      this.#isClosedByClient = true
      this.#parts.events.onClosed()
    })
  }

  #serverEnd(): ServerWebSocket<SocketData> {
    const { schedule, weather, node, events } = this.#parts
    const sendText = (text: string): number => {
      this.#down(`receives ${text.slice(0, 90)}`, text.length, () => events.onFrame(text))
      return text.length
    }
    const end = (): void => {
      this.#closed()
      schedule.after(weather.waitMs('frame'), node.owner, 'connection closed', () => this.#gone())
    }
    const pong = (): void => {
      this.#up('pong', () => {
        if (!this.#isGone) node.webSocket.pong?.(this.#socket, Buffer.alloc(0))
      })
    }
    const socket: Partial<ServerWebSocket<SocketData>> = {
      getBufferedAmount: () => Math.max(0, this.#unread - KERNEL_BYTES),
      cork: (callback) => callback(this.#socket),
      sendText,
      ping: () => {
        this.#down('ping', 0, pong)
        return 0
      },
      close: end,
      terminate: end,
      subscribe: () => true,
      unsubscribe: () => true,
      subscriptions: [],
    }
    return socket as ServerWebSocket<SocketData>
  }
}
