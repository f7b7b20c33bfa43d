// What both kinds of model clients have: an account, its own messages, what it shows of its friends'
// messages, and a connection that can be closed, left half-open or frozen at any moment.
import type { Random } from '../../../../bench/faults/random.ts'
import type { WireAccount } from '../wire.ts'
import { type Eras, type Moments, untilItWorks } from './moments.ts'

export type Status = 'sending' | 'sent' | 'delivered' | 'read'

// biome-ignore lint/suspicious/noExplicitAny: a model reads the fields of any frame
export type Frame = any

/** A message of the client's user. */
export interface OwnMessage {
  readonly id: string
  readonly conv: string
  /** The relay's era in which it was written. */
  readonly era: number
  /** What the client shows. */
  status: Status
  /** Known from the first `ack`. */
  seq: number | undefined
  /** Whether an `ack` set it back from a mark that had overtaken it, and no `read` came since. */
  isOvertaken: boolean
  /** The connection of the first `ack`, and whether a repeat was acknowledged on a later one. */
  ackedOn: number | undefined
  isRepeated: boolean
  isRetracted: boolean
  /** The relay's era in which it was retracted. */
  retractedIn: number | undefined
  isRetractAcked: boolean
  /** Whether the friendship ended after it was written, so that it may be erased. */
  mayBeErased: boolean
}

/** What the client has of one friend's messages. */
export interface Inbox {
  /** The decrypted messages that it stored, with their numbers. */
  readonly stored: Map<string, number>
  readonly retracted: Set<string>
  /** The highest number that it decrypted, and the highest that its user read. */
  decrypted: number
  read: number
}

export interface ModelParts {
  readonly account: WireAccount
  readonly moments: Moments
  /** For the delays of handlers and for the client's habits. */
  readonly random: Random
  readonly eras: Eras
}

export abstract class ModelClient {
  /** How it reads receipts. */
  abstract readonly kind: 'older' | 'by_seq'
  readonly account: WireAccount
  readonly own: OwnMessage[] = []
  readonly inboxes = new Map<string, Inbox>()
  /** The friend of each conversation that the client has a session for. */
  readonly sessions = new Map<string, string>()
  /**
   * Own messages that the relay reported as expired. Only the test looks at them: older clients ignore it.
   */
  readonly expired = new Set<string>()
  /** What must never happen: a `goaway`, or a handler that failed. */
  readonly faults: string[] = []
  /** How many handlers have begun and not ended. */
  running = 0
  /** Set for the last connection: the handlers of an `ack` take this long, and those of marks no time. */
  slowAcksMs: number | undefined
  pongs = 0
  protected readonly random: Random
  protected readonly moments: Moments
  protected connections = 0
  readonly #eras: Eras
  #socket: WebSocket | undefined
  readonly #halfOpen: WebSocket[] = []
  #wantsConnection = false
  #frozenFrames: Frame[] | undefined
  #thawed = Promise.resolve()
  #thaw: () => void = () => undefined

  constructor(parts: ModelParts) {
    this.account = parts.account
    this.random = parts.random
    this.moments = parts.moments
    this.#eras = parts.eras
  }

  /** Handles a frame, in its own time. */
  protected abstract handle(frame: Frame): Promise<void>

  /** What the client sends when it has connected, before anything else. */
  protected abstract greet(): void

  /** Which own messages it sends again at a new connection. */
  protected abstract isSentAgain(message: OwnMessage): boolean

  get isConnected(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN
  }

  get isFrozen(): boolean {
    return this.#frozenFrames !== undefined
  }

  inbox(conv: string): Inbox {
    let inbox = this.inboxes.get(conv)
    if (!inbox) {
      inbox = { stored: new Map(), retracted: new Set(), decrypted: 0, read: 0 }
      this.inboxes.set(conv, inbox)
    }
    return inbox
  }

  /** Connects, in place of the present connection if there is one, and sends again what is due. */
  async connect(): Promise<void> {
    this.leaveHalfOpen()
    this.thaw()
    this.#wantsConnection = true
    const number = ++this.connections
    await untilItWorks(async () => {
      if (number !== this.connections || !this.#wantsConnection) return true
      const url = `${this.account.wsUrl()}?user_uuid=${this.account.uuid}&ticket=${await this.account.ticket()}`
      await this.#open(url, number)
      return true
    })
  }

  /** Closes the connection. */
  disconnect(): void {
    this.#wantsConnection = false
    this.#frozenFrames = this.#frozenFrames && []
    this.#socket?.close()
    this.#socket = undefined
  }

  /** Forgets the connection without closing it, as when the network changes. What arrives there is lost. */
  leaveHalfOpen(): void {
    if (this.#socket) this.#halfOpen.push(this.#socket)
    this.#frozenFrames = this.#frozenFrames && []
    this.#socket = undefined
    this.#wantsConnection = false
  }

  /** Stops the client: frames wait unhandled, handlers stand still, nothing is sent. */
  freeze(): void {
    if (this.#frozenFrames) return
    this.#frozenFrames = []
    this.#thawed = new Promise((resolve) => {
      this.#thaw = resolve
    })
  }

  thaw(): void {
    const frames = this.#frozenFrames
    if (!frames) return
    this.#frozenFrames = undefined
    this.#thaw()
    for (const frame of frames) this.#arrived(frame)
    if (!this.isConnected && this.#wantsConnection) this.#connectAgain()
  }

  /** Ends all connections at the end of a schedule. */
  end(): void {
    this.thaw()
    this.disconnect()
    for (const socket of this.#halfOpen) socket.close()
  }

  /** Writes a message in a conversation that the client has a session for. */
  write(conv: string): void {
    const message: OwnMessage = {
      ...{ id: crypto.randomUUID(), conv, era: this.#eras.count, status: 'sending', seq: undefined },
      ...{ ackedOn: undefined, isRepeated: false, isOvertaken: false },
      ...{ isRetracted: false, retractedIn: undefined, isRetractAcked: false, mayBeErased: false },
    }
    this.own.push(message)
    this.#sendMessage(message)
  }

  /** Retracts an own message; the client no longer shows it. */
  retract(message: OwnMessage): void {
    message.isRetracted = true
    message.retractedIn = this.#eras.count
    this.#sendRetraction(message)
  }

  /** The user reads all that is there. */
  read(conv: string): void {
    const inbox = this.inbox(conv)
    if (inbox.decrypted === 0) return
    inbox.read = inbox.decrypted
    this.confirm('read', conv, inbox.read)
  }

  /** Sends a frame. @returns false if there is no connection; then it is lost */
  send(frame: Frame): boolean {
    if (!this.isConnected || this.isFrozen) return false
    this.#socket?.send(JSON.stringify(frame))
    return true
  }

  confirm(type: 'delivered' | 'read', conv: string, seq: number): void {
    this.send({ type, conv_id: conv, seq, to: this.sessions.get(conv) ?? 'unknown' })
  }

  /** Asks for the friends, and has a session for each conversation of the reply. */
  async askForFriends(): Promise<void> {
    const rows = await untilItWorks(async () => {
      const answer = await this.account.get('/friends')
      return answer.status === 200 ? answer.body : undefined
    })
    // Messages that were on the wire when the reply left are handled before it.
    await Bun.sleep(20)
    await this.pause(180)
    for (const { status, conversation_id, alias_id } of rows) {
      if (status === 'accepted' && conversation_id) this.sessions.set(conversation_id, alias_id)
    }
    this.moments.changed()
  }

  /** What a handler waits for before it has its effect: mostly little, at most this long. */
  protected async pause(most: number): Promise<void> {
    const ms = this.random.between(0, this.random.chance(0.6) ? most / 10 : most)
    await Bun.sleep(ms)
    await this.#thawed
  }

  protected accepted(frame: Frame): OwnMessage | undefined {
    const message = this.own.find(({ id }) => id === frame.id)
    if (!message) return undefined
    message.seq = frame.seq
    message.ackedOn ??= this.connections
    if (message.ackedOn !== this.connections) message.isRepeated = true
    return message
  }

  async #open(url: string, number: number): Promise<void> {
    const socket = new WebSocket(url)
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('message', ({ data }) => {
        if (socket === this.#socket) this.#arrived(JSON.parse(String(data)))
      })
      socket.addEventListener('close', ({ code }) => {
        reject(new Error(`closed with ${code} before it was open`))
        if (socket !== this.#socket) return
        this.#socket = undefined
        if (!this.isFrozen && this.#wantsConnection) this.#connectAgain()
      })
      socket.addEventListener('open', () => {
        resolve()
        if (number !== this.connections || !this.#wantsConnection) return socket.close()
        this.#socket = socket
        this.moments.changed()
        this.greet()
        for (const message of this.own) {
          if (message.isRetracted) this.#sendRetraction(message)
          else if (this.isSentAgain(message)) this.#sendMessage(message)
        }
      })
    })
  }

  #connectAgain(): void {
    const returned = this.connect().catch((error) => void this.faults.push(String(error)))
    this.#eras.returns(returned)
  }

  #sendMessage({ id, conv }: OwnMessage): void {
    const payload = Buffer.from(`encrypted anew: ${crypto.randomUUID()}`).toString('base64')
    this.send({ type: 'msg', id, to: this.sessions.get(conv), conv_id: conv, crypto_v: 1, payload })
  }

  #sendRetraction({ id, conv, isRetractAcked }: OwnMessage): void {
    if (!isRetractAcked) this.send({ type: 'retract', id, to: this.sessions.get(conv), conv_id: conv })
  }

  #arrived(frame: Frame): void {
    if (this.#frozenFrames) {
      this.#frozenFrames.push(frame)
      return
    }
    if (frame.type === 'goaway') this.faults.push(`goaway ${frame.reason}`)
    if (frame.type === 'error' && frame.error === 'EXPIRED') this.expired.add(frame.id)
    if (frame.type === 'pong') this.pongs += 1
    if (frame.type === 'retract_ack') {
      for (const message of this.own) if (message.id === frame.id) message.isRetractAcked = true
    }
    this.running += 1
    this.handle(frame)
      .catch((error) => this.faults.push(String(error)))
      .finally(() => {
        this.running -= 1
        this.moments.changed()
      })
  }
}
