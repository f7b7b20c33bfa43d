// The bystanders of an attack: pairs of friends that exchange messages at a modest, steady rate. They measure
// the time from each frame to its `ack` and to its delivery.
import { RawSocket } from '../load/raw-socket.ts'
import { percentile } from '../measure.ts'

/** One direction of one conversation, not yet connected. */
export interface Line {
  readonly fromUrl: string
  readonly toUrl: string
  readonly fromAlias: string
  readonly toAlias: string
  readonly conv: string
}

/** What the bystanders saw of a phase. */
export interface Seen {
  readonly sent: number
  /** Messages that were refused, or that had no `ack` or were not delivered within {@link LATE_MS}. */
  readonly missing: number
  /** The half of the times that is not longer, and 99% of them, in milliseconds. */
  readonly ack: Times
  readonly delivery: Times
}

interface Times {
  readonly p50: number
  readonly p99: number
}

interface Message {
  readonly sentAt: number
  ackMs?: number
  deliveryMs?: number
}

/** Below the rate of one account (`RATE_MESSAGE`). */
const MESSAGES_A_SECOND_AND_PAIR = 40
const LATE_MS = 10_000
const PAYLOAD = Buffer.alloc(300, 7).toString('base64')
const TYPE_AT = '{"type":"'.length
const [ACK, MSG] = ['a'.charCodeAt(0), 'm'.charCodeAt(0)]

export class Bystanders {
  readonly #pairs: readonly { line: Line; from: RawSocket; to: RawSocket }[]
  readonly #messages = new Map<string, Message>()
  #sent = 0
  #onAnswer: () => void = () => undefined

  private constructor(pairs: readonly { line: Line; from: RawSocket; to: RawSocket }[]) {
    this.#pairs = pairs
  }

  /** Connects all of them. */
  static async connect(lines: readonly Line[]): Promise<Bystanders> {
    const pairs = await Promise.all(
      lines.map(async (line) => ({
        line,
        from: await RawSocket.open(line.fromUrl),
        to: await RawSocket.open(line.toUrl),
      })),
    )
    const bystanders = new Bystanders(pairs)
    for (const pair of pairs) bystanders.#listen(pair)
    return bystanders
  }

  /** Exchanges messages for `seconds`, and waits until all of them have arrived. */
  async measure(seconds: number): Promise<Seen> {
    this.#messages.clear()
    const start = performance.now()
    const count = Math.round(seconds * MESSAGES_A_SECOND_AND_PAIR * this.#pairs.length)
    for (let sent = 0; sent < count; ) {
      const due = Math.min(count, ((performance.now() - start) / (seconds * 1000)) * count)
      for (; sent < due; sent++) this.#send()
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    await this.#untilAllArrived()
    const messages = [...this.#messages.values()]
    return {
      sent: messages.length,
      missing: messages.filter((message) => !isComplete(message)).length,
      ack: timesOf(messages.flatMap(({ ackMs }) => ackMs ?? [])),
      delivery: timesOf(messages.flatMap(({ deliveryMs }) => deliveryMs ?? [])),
    }
  }

  close(): void {
    for (const { from, to } of this.#pairs) {
      from.close()
      to.close()
    }
  }

  #send(): void {
    this.#sent += 1
    const pair = this.#pairs[this.#sent % this.#pairs.length]
    if (!pair) throw new Error('there are no bystanders')
    const { toAlias, conv } = pair.line
    const id = `bystander-${this.#sent}`
    this.#messages.set(id, { sentAt: performance.now() })
    pair.from.send(
      JSON.stringify({ type: 'msg', id, to: toAlias, conv_id: conv, crypto_v: 1, payload: PAYLOAD }),
    )
  }

  #listen({ line, from, to }: { line: Line; from: RawSocket; to: RawSocket }): void {
    from.onFrame = (bytes, start, end) => {
      if (bytes[start + TYPE_AT] !== ACK) return
      const message = this.#messages.get(JSON.parse(bytes.toString('latin1', start, end)).id)
      if (message) message.ackMs = performance.now() - message.sentAt
      this.#onAnswer()
    }
    to.onFrame = (bytes, start, end) => {
      if (bytes[start + TYPE_AT] !== MSG) return
      const { id, seq } = JSON.parse(bytes.toString('latin1', start, end))
      const message = this.#messages.get(id)
      if (message) message.deliveryMs = performance.now() - message.sentAt
      to.send(`{"type":"delivered","conv_id":"${line.conv}","seq":${seq},"to":"${line.fromAlias}"}`)
      this.#onAnswer()
    }
  }

  #untilAllArrived(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LATE_MS)
      this.#onAnswer = () => {
        if (![...this.#messages.values()].every(isComplete)) return
        clearTimeout(timer)
        this.#onAnswer = () => undefined
        resolve()
      }
      this.#onAnswer()
    })
  }
}

function isComplete({ ackMs, deliveryMs }: Message): boolean {
  return ackMs !== undefined && deliveryMs !== undefined
}

function timesOf(ms: readonly number[]): Times {
  return { p50: percentile(ms, 50), p99: percentile(ms, 99) }
}
