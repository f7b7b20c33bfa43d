// One client of a crowd: it comes online with its token as our client library does, and waits between
// attempts as that does. It answers nothing and reads nothing but the end of its backlog.
import { randomBytes } from 'node:crypto'
import { Backoff } from '../../packages/client/src/platform/backoff.ts'
import { RawHttp } from '../load/raw-http.ts'
import { RawSocket } from '../load/raw-socket.ts'
import type { Member } from './population.ts'

/** As in packages/client/src/wire/connection.ts and http.ts. */
const RECONNECT = { firstMs: 1000, maxMs: 30_000 }
const STABLE_MS = 10_000
const TIMEOUT_MS = 15_000
const MAX_ASKED_WAIT_MS = 300_000

/** Why an attempt failed, for a table: the code of a refusal, or words. */
class Failed extends Error {
  readonly askedMs: number

  constructor(reason: string, askedMs = 0) {
    super(reason)
    this.askedMs = askedMs
  }
}

/** What the members of a crowd have in common. */
export interface MemberParts {
  /** The node that the next attempt goes to. */
  readonly nodeOf: () => string
  /** An attempt failed. */
  readonly failed: (reason: string) => void
  /** A frame arrived after the backlog. */
  readonly onFrame: (bytes: Buffer, start: number) => void
}

const SYNC_END = Buffer.from('{"type":"sync_end"')

/** Keeps one account connected. */
export class CrowdMember {
  readonly #member: Member
  readonly #parts: MemberParts
  readonly #backoff = new Backoff((length) => new Uint8Array(randomBytes(length)), RECONNECT)
  #socket: RawSocket | undefined
  #onSynced: () => void = () => undefined
  #isStopped = false
  #openedAt = 0

  constructor(member: Member, parts: MemberParts) {
    this.#member = member
    this.#parts = parts
  }

  /** Resolves once it is connected and has read its backlog, however many attempts that takes. */
  async online(): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#attempt()
        return
      } catch (error) {
        const askedMs = error instanceof Failed ? Math.min(error.askedMs, MAX_ASKED_WAIT_MS) : 0
        this.#parts.failed(error instanceof Error ? error.message : String(error))
        await this.#wait(askedMs)
      }
    }
  }

  /** Resolves with the time when its connection is lost, in ms since 1970. */
  lost(): Promise<number> {
    return new Promise((resolve) => {
      if (this.#socket) this.#socket.onClose = () => resolve(Date.now())
    })
  }

  /** Waits as the library does after it has lost its connection, and comes back. */
  async back(): Promise<void> {
    if (performance.now() - this.#openedAt >= STABLE_MS) this.#backoff.reset()
    await this.#wait(0)
    await this.online()
  }

  stop(): void {
    this.#isStopped = true
    this.#socket?.drop()
  }

  #wait(askedMs: number): Promise<void> {
    return Bun.sleep(Math.max(this.#backoff.nextMs(), askedMs))
  }

  async #attempt(): Promise<void> {
    const node = this.#parts.nodeOf()
    const address = `X-Forwarded-For: ${this.#member.address}\r\n`
    const ticket = await this.#ticket(node, address)
    const synced = new Promise<void>((resolve) => {
      this.#onSynced = resolve
    })
    let isLost = (): void => undefined
    const lost = new Promise<never>((_, reject) => {
      isLost = () => reject(new Failed('closed before the end of the backlog'))
    })
    const socket = await RawSocket.open(
      `${node}/ws?user_uuid=${this.#member.uuid}&ticket=${ticket}`,
      (bytes, start, end) => this.#received(bytes, start, end),
      { headers: address, withinMs: TIMEOUT_MS },
    )
    socket.onClose = isLost
    socket.send('{"type":"sync","receipts":"by_seq"}')
    this.#socket = socket
    this.#openedAt = performance.now()
    await Promise.race([synced, lost])
  }

  /** Each request has a connection of its own, as that of a client that has not asked for a while. */
  async #ticket(node: string, address: string): Promise<string> {
    const http = await RawHttp.open(node)
    const late = setTimeout(() => http.close(), TIMEOUT_MS)
    try {
      const headers = `${address}Authorization: Bearer ${this.#member.token}\r\nConnection: close\r\n`
      const { status, head, body } = await http.ask('/api/v1/ws/ticket', '', headers)
      if (status === 200 || status === 201) return JSON.parse(body).ticket
      const askedSeconds = Number(/retry-after: (?<seconds>\d+)/i.exec(head)?.groups?.seconds ?? 0)
      throw new Failed(String(JSON.parse(body).error), askedSeconds * 1000)
    } finally {
      clearTimeout(late)
      http.close()
    }
  }

  #received(bytes: Buffer, start: number, end: number): void {
    const most = Math.min(end, start + SYNC_END.length)
    if (bytes.compare(SYNC_END, 0, SYNC_END.length, start, most) === 0) this.#onSynced()
    else this.#parts.onFrame(bytes, start)
  }
}
