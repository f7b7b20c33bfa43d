// One authenticated WebSocket: what features use to send to a client.
import { type CloseReason, closeCodes, closeMeanings, type RelayFrameOf } from '@sotto/protocol'
import type { ServerWebSocket } from 'bun'
import type { RelayMetrics } from '../operations/relay-metrics.ts'
import type { AccountId } from '../storage/storage.ts'

/** The account of a connection, and the token that opened it. */
export interface ConnectionOwner {
  readonly account: AccountId
  readonly jti: string
  readonly tokenExpiresAt: number
}

type Socket = ServerWebSocket<unknown>

export class Connection {
  readonly account: AccountId
  readonly jti: string
  readonly tokenExpiresAt: number
  /** Identifies the connection among those of the account, on all nodes. */
  readonly id: string
  /**
   * Which of the account's connections this is, over all nodes: a newer one has a higher number. Undefined
   * until it is known, and in a relay of one process.
   */
  epoch: number | undefined
  /** Resolves once `epoch` is known or the connection closes. Undefined if nothing is awaited. */
  untilEpoch: Promise<void> | undefined
  readonly #socket: Socket
  readonly #outboundBytes: number
  readonly #windowBytes: number
  readonly #signalBytes: number
  readonly #metrics: RelayMetrics
  #isClosing = false
  #unsent: string[] = []
  #unsentBytes = 0

  constructor(
    socket: Socket,
    owner: ConnectionOwner,
    options: {
      id: string
      outboundBytes: number
      windowBytes: number
      frameBytes: number
      metrics: RelayMetrics
    },
  ) {
    this.account = owner.account
    this.jti = owner.jti
    this.tokenExpiresAt = owner.tokenExpiresAt
    this.id = options.id
    this.#socket = socket
    this.#outboundBytes = options.outboundBytes
    this.#windowBytes = options.windowBytes
    this.#metrics = options.metrics
    this.#signalBytes = options.windowBytes + options.frameBytes
  }

  /**
   * Sends an encoded frame. All frames of the same tick of the event loop are written together, because one
   * system call for each would cost more than everything else. A client that reads too slowly is disconnected
   * with 1013.
   */
  send(frame: string): void {
    if (this.#isClosing) return
    this.#unsent.push(frame)
    this.#unsentBytes += frame.length
    if (this.#unsent.length === 1) queueMicrotask(() => this.#writeAndCheck())
  }

  /**
   * Sends an encoded frame that may be lost, but only if the peer is not far behind. Otherwise another
   * account could send so many of them that the peer is disconnected or has to wait for its messages.
   */
  sendUnlessBehind(frame: string): void {
    if (this.bufferedBytes + frame.length <= this.#signalBytes) this.send(frame)
  }

  /** Sends encoded frames. */
  sendAll(frames: readonly string[]): void {
    for (const frame of frames) this.send(frame)
  }

  /** Writes the buffered frames now. Call this before waiting for the peer to receive them. */
  flush(): void {
    if (!this.#isClosing) this.#write()
  }

  /** Whether the peer has more bytes to receive than allowed. */
  get isFull(): boolean {
    return this.bufferedBytes > this.#outboundBytes
  }

  /** How many bytes were sent that the peer has not received yet. */
  get bufferedBytes(): number {
    return this.#socket.getBufferedAmount() + this.#unsentBytes
  }

  /** Sends a WebSocket ping. */
  ping(): void {
    if (this.#isClosing) return
    this.#write() // The pong must confirm the frames that were sent before the ping (protocol, Delivery 6).
    this.#socket.ping()
  }

  /** From now on the connection gets the frames published under a topic. */
  subscribe(topic: string): void {
    if (!this.#isClosing) this.#socket.subscribe(topic)
  }

  /** The topics that it is on. */
  get topics(): readonly string[] {
    return this.#isClosing ? [] : this.#socket.subscriptions
  }

  unsubscribe(topic: string): void {
    if (!this.#isClosing) this.#socket.unsubscribe(topic)
  }

  close(reason: CloseReason): void {
    if (this.#isClosing) return
    this.#write()
    this.#isClosing = true
    this.#metrics.closed.count(reason)
    // A closing handshake would wait behind all unread bytes. Many such connections could fill the memory.
    const isUnread =
      (reason === 'overload' || reason === 'replaced') && this.bufferedBytes > this.#windowBytes
    if (isUnread) this.#socket.terminate()
    else this.#socket.close(closeCodes[reason], closeMeanings[reason])
  }

  /** Sends the reason in a `goaway` and closes. Published clients do not reconnect after a `goaway`. */
  goAway(reason: RelayFrameOf<'goaway'>['reason'], close: CloseReason): void {
    this.send(JSON.stringify({ type: 'goaway', reason }))
    this.close(close)
  }

  /** Whether the connection is closed or closing, so that nothing is sent any more. */
  get isClosing(): boolean {
    return this.#isClosing
  }

  #writeAndCheck(): void {
    if (this.#isClosing) return
    this.#write()
    if (this.isFull) this.close('overload')
  }

  #write(): void {
    const frames = this.#unsent
    if (frames.length === 0) return
    this.#unsent = []
    this.#unsentBytes = 0
    this.#metrics.framesSent.count('', '', frames.length)
    this.#socket.cork(() => {
      for (const frame of frames) this.#socket.sendText(frame)
    })
  }
}
