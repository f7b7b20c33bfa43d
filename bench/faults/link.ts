// One connection of a client, recorded in the history.
import type { WireAccount } from '@sotto/relay/testing/wire'
import { RawSocket } from '../load/raw-socket.ts'
import { type Frame, type History, recordable } from './history.ts'
import type { Address } from './node.ts'

const OPEN_WITHIN_MS = 3000

export class Link {
  readonly connection: number
  /** When the relay last sent something. */
  heardMs = performance.now()
  isOver = false
  #socket: RawSocket | undefined
  readonly #client: number
  readonly #history: History

  private constructor(client: number, history: History) {
    this.#client = client
    this.#history = history
    this.connection = history.nextConnection()
  }

  /**
   * Connects to `to`, with a ticket or, as older clients do, with the token.
   * @throws if the relay refuses the connection or does not answer in time
   */
  static async open(
    { account, client, history }: { account: WireAccount; client: number; history: History },
    how: {
      to: Address
      byTicket: boolean
      onFrame: (frame: Frame, link: Link) => void
      onClose: () => void
    },
  ): Promise<Link> {
    const link = new Link(client, history)
    const { node, port } = how.to
    history.add({ type: 'opening', client, connection: link.connection, node })
    const credential = how.byTicket ? `ticket=${await within(account.ticket())}` : `token=${account.token}`
    const url = `http://127.0.0.1:${port}/ws?user_uuid=${account.uuid}&${credential}`
    const opening = RawSocket.open(url, (bytes, start, end) => {
      const frame: Frame = JSON.parse(bytes.toString('utf8', start, end))
      link.heardMs = performance.now()
      history.add({ type: 'received', client, connection: link.connection, frame: recordable(frame) })
      how.onFrame(frame, link)
    })
    // Too late: the caller has given up, so the socket is closed.
    link.#socket = await within(opening, (late) => late.close())
    link.#socket.onClose = () => {
      if (link.isOver) return
      link.isOver = true
      history.add({ type: 'closed', client, connection: link.connection })
      how.onClose()
    }
    return link
  }

  send(frame: Frame, times: number): void {
    if (this.isOver) return
    const text = JSON.stringify(frame)
    for (let time = 0; time < times; time++) {
      const { connection } = this
      this.#history.add({ type: 'sent', client: this.#client, connection, frame: recordable(frame) })
      this.#socket?.send(text)
    }
  }

  pause(): void {
    this.#socket?.pause()
  }

  resume(): void {
    this.#socket?.resume()
  }

  close(): void {
    this.#socket?.close()
  }
}

/** The result if it comes in time. A later result is passed to `late`. */
export async function within<T>(
  work: Promise<T>,
  late: (result: T) => void = () => undefined,
  ms = OPEN_WITHIN_MS,
): Promise<T> {
  let isLate = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      isLate = true
      reject(new Error(`no answer within ${ms} ms`))
    }, ms)
  })
  work.then(
    (result) => {
      if (isLate) late(result)
    },
    () => undefined,
  )
  try {
    return await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
}
