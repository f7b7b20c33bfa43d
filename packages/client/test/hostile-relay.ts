// A hostile relay: clients can register and connect, and it sends them any frame and reply that the test
// gives it.
import {
  createCipheriv,
  createHash,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import type { SottoClient } from '../src/client.ts'

type Json = Record<string, unknown>
interface Reply {
  readonly status?: number
  readonly body: unknown
}
type Answer = (body: Json) => Reply | Promise<Reply>

/** A peer that has an account at the relay, or that the relay has invented. */
export interface Peer {
  readonly aliasId: string
  readonly conversationId: string
  readonly x25519: string
  readonly ed25519: string
  /** Encrypts a message from this peer to the client with this X25519 public key. Returns the payload. */
  payloadTo(publicKey: string, text: string): string
}

/** Makes a peer that encrypts with Node's cryptography. It shares no code with the client. */
export function makePeer(aliasId: string, conversationId: string = crypto.randomUUID()): Peer {
  const agreement = generateKeyPairSync('x25519')
  return {
    aliasId,
    conversationId,
    x25519: rawOf(agreement.publicKey),
    ed25519: rawOf(generateKeyPairSync('ed25519').publicKey),
    payloadTo: (publicKey, text) => {
      const secret = diffieHellman({ privateKey: agreement.privateKey, publicKey: x25519Of(publicKey) })
      const salt = createHash('sha256').update(conversationId).digest()
      const sessionKey = Buffer.from(hkdfSync('sha256', secret, salt, 'securechat-session-v1', 32))
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', sessionKey, nonce)
      const sealed = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return Buffer.concat(sealed).toString('base64')
    },
  }
}

/** The raw 32 bytes of a public key, in Base64. */
function rawOf(publicKey: KeyObject): string {
  return Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64')
}

function x25519Of(publicKey: string): KeyObject {
  const x = Buffer.from(publicKey, 'base64').toString('base64url')
  return createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' })
}

/** The row of the friend list for a peer. */
export function friendOf(peer: Peer, fields: Json = {}): Json {
  return {
    friendship_id: Number(`0x${peer.conversationId.slice(0, 8)}`) + 1,
    alias_id: peer.aliasId,
    nickname: peer.aliasId,
    status: 'accepted',
    direction: 'sent',
    conversation_id: peer.conversationId,
    x25519_public_key: peer.x25519,
    ed25519_public_key: peer.ed25519,
    created_at: '2026-01-01T00:00:00.000Z',
    ...fields,
  }
}

/** A truthful reply of `GET /me` about a client's identity. */
export function meOf(client: SottoClient, changed: Json = {}): { body: Json } {
  const { identity } = client
  return {
    body: {
      uuid: identity?.uuid,
      alias_id: identity?.aliasId,
      nickname: 'victim',
      ed25519_public_key: identity?.signingPublicKey,
      x25519_public_key: identity?.ecdhPublicKey,
      created_at: '2026-01-01T00:00:00.000Z',
      ...changed,
    },
  }
}

/** Pages of every origin may use this relay. */
const OPEN = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'authorization, content-type',
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
}

/** The relay. The test can change `friends`, `answersPings` and `answers` at any time. */
export class HostileRelay {
  readonly url: string
  readonly uuid = crypto.randomUUID()
  readonly aliasId = 'u12345678'
  friends: unknown = []
  answersPings = true
  answersSyncs = true
  /** Answers that replace the usual ones, by method and path. */
  readonly answers: Record<string, Answer> = {}
  /** The method and path of every HTTP request. */
  readonly called: string[] = []
  /** Every frame that clients have sent. */
  readonly received: Json[] = []
  readonly #server: Bun.Server<undefined>
  readonly #sockets = new Set<Bun.ServerWebSocket<undefined>>()

  constructor() {
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request, server) => {
        if (new URL(request.url).pathname === '/ws' && server.upgrade(request)) return undefined
        return request.method === 'OPTIONS' ? new Response(null, { headers: OPEN }) : this.#answer(request)
      },
      websocket: {
        open: (socket) => {
          this.#sockets.add(socket)
        },
        close: (socket) => {
          this.#sockets.delete(socket)
        },
        message: (_, text) => {
          const frame: Json = JSON.parse(String(text))
          this.received.push(frame)
          if (frame.type === 'sync' && this.answersSyncs) this.send({ type: 'sync_end', count: 0 })
          if (frame.type === 'ping' && this.answersPings) this.send({ type: 'pong', at: 1 })
        },
      },
    })
    this.url = `http://127.0.0.1:${this.#server.port}`
  }

  /** How many connections are open. */
  get connections(): number {
    return this.#sockets.size
  }

  get host(): string {
    return new URL(this.url).host
  }

  /** A challenge in the form an honest relay uses. */
  challengeFor(uuid: string, host: string = this.host): string {
    return `relay-auth-v1:${host}:${uuid}:${randomBytes(32).toString('base64url')}`
  }

  /** Sends a frame to every connection. A string is sent unchanged. */
  send(frame: Json | string): void {
    for (const socket of this.#sockets) socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }

  close(code: number): void {
    for (const socket of this.#sockets) socket.close(code)
  }

  /** The frames of this type that clients have sent. */
  framesOf(type: string): Json[] {
    return this.received.filter((frame) => frame.type === type)
  }

  async stop(): Promise<void> {
    await this.#server.stop(true)
  }

  async #answer(request: Request): Promise<Response> {
    const path = `${request.method} ${new URL(request.url).pathname.replace('/api/v1', '')}`
    this.called.push(path)
    const text = await request.text()
    const body: Json = text === '' ? {} : JSON.parse(text)
    const answer = (await this.answers[path]?.(body)) ?? { body: this.#usualAnswer(path, body) }
    return typeof answer.body === 'string'
      ? new Response(answer.body, { status: answer.status ?? 200, headers: OPEN })
      : Response.json(answer.body, { status: answer.status ?? 200, headers: OPEN })
  }

  #usualAnswer(path: string, body: Json): unknown {
    switch (path) {
      case 'GET /health':
        return { status: 'ok', version: '1' }
      case 'POST /pow/challenge':
        return { challenge_string: 'work', difficulty: 1, expires_in: 300 }
      case 'POST /register':
        return { uuid: this.uuid, alias_id: this.aliasId }
      case 'POST /auth/challenge':
        return { challenge: this.challengeFor(String(body.user_uuid)) }
      case 'POST /auth/verify':
        return { token: 'token', expires_in: 3600 }
      case 'POST /ws/ticket':
        return { ticket: 'ticket', expires_in: 30 }
      case 'GET /friends':
        return this.friends
      default:
        return {}
    }
  }
}
