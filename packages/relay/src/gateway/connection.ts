// One authenticated WebSocket, as features see it.
import { type CloseReason, closeCodes, closeMeanings, type RelayFrameOf } from '@sotto/protocol'
import type { ServerWebSocket } from 'bun'
import type { AccountId } from '../storage/storage.ts'

/** Whose connection it is, and with which token it was opened. */
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
  /** Tells connections of one account apart, on whichever node they are. */
  readonly id: string
  readonly #socket: Socket
  readonly #outboundBytes: number
  readonly #windowBytes: number
  #isClosing = false
  #unsent: string[] = []
  #unsentBytes = 0

  constructor(
    socket: Socket,
    owner: ConnectionOwner,
    options: { id: string; outboundBytes: number; windowBytes: number },
  ) {
    this.account = owner.account
    this.jti = owner.jti
    this.tokenExpiresAt = owner.tokenExpiresAt
    this.id = options.id
    this.#socket = socket
    this.#outboundBytes = options.outboundBytes
    this.#windowBytes = options.windowBytes
  }

  /**
   * Sends an encoded frame, together with what else is sent in this turn: a system call for each would cost more than
   * all the rest. A reader that lets too much pile up is closed with 1013.
   */
  send(frame: string): void {
    if (this.#isClosing) return
    this.#unsent.push(frame)
    this.#unsentBytes += frame.length
    if (this.#unsent.length === 1) queueMicrotask(() => this.#endTurn())
  }

  /** Sends encoded frames. */
  sendAll(frames: readonly string[]): void {
    for (const frame of frames) this.send(frame)
  }

  /** Writes what was sent in this turn at once. Whoever waits to be told that it was taken has to do so first. */
  flush(): void {
    if (!this.#isClosing) this.#write()
  }

  /** True where more waits for the peer to take it than may. */
  get isOverfull(): boolean {
    return this.bufferedBytes > this.#outboundBytes
  }

  /** What was written and the peer has not taken yet. */
  get bufferedBytes(): number {
    return this.#socket.getBufferedAmount() + this.#unsentBytes
  }

  /** Pings beneath the application: a WebSocket-level ping frame. */
  ping(): void {
    if (this.#isClosing) return
    this.#write() // The answer has to follow what was sent before (protocol, Delivery 6).
    this.#socket.ping()
  }

  /** Hears what is published under a topic, from here on. */
  subscribe(topic: string): void {
    if (!this.#isClosing) this.#socket.subscribe(topic)
  }

  unsubscribe(topic: string): void {
    if (!this.#isClosing) this.#socket.unsubscribe(topic)
  }

  close(reason: CloseReason): void {
    if (this.#isClosing) return
    this.#write()
    this.#isClosing = true
    // A closing handshake waits behind all that is unread, and one connection after the other could pile that up.
    const isUnread =
      (reason === 'overload' || reason === 'replaced') && this.bufferedBytes > this.#windowBytes
    if (isUnread) this.#socket.terminate()
    else this.#socket.close(closeCodes[reason], closeMeanings[reason])
  }

  /** Says why, then closes for good: published clients do not come back after a `goaway`. */
  goAway(reason: RelayFrameOf<'goaway'>['reason'], close: CloseReason): void {
    this.send(JSON.stringify({ type: 'goaway', reason }))
    this.close(close)
  }

  /** True once it is closed or about to be: nothing is sent any more. */
  get isClosing(): boolean {
    return this.#isClosing
  }

  #endTurn(): void {
    if (this.#isClosing) return
    this.#write()
    if (this.isOverfull) this.close('overload')
  }

  #write(): void {
    const frames = this.#unsent
    if (frames.length === 0) return
    this.#unsent = []
    this.#unsentBytes = 0
    this.#socket.cork(() => {
      for (const frame of frames) this.#socket.sendText(frame)
    })
  }
}
