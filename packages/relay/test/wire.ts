// A client made only of fetch and WebSocket. It follows docs/protocol.md and uses none of the project's code,
// so these tests find a mistake that the relay and the client library share.
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'

type Json = Record<string, unknown>

/** An HTTP answer. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests check the fields of any reply themselves
  readonly body: any
  readonly text: string
}

/** Sends one request and reads the answer. */
export async function call(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init)
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') && text !== ''
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : undefined,
    text,
  }
}

/** Posts a JSON body. */
export function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return call(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

function rawKey(key: ReturnType<typeof createPublicKey>): string {
  return key.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')
}

/** The Ed25519 private key of these 32 bytes. */
function privateKeyOf(hex: string): ReturnType<typeof createPrivateKey> {
  const der = Buffer.from(`302e020100300506032b657004220420${hex}`, 'hex')
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
}

/** The keys of a person who has another client, too. */
export interface KnownKeys {
  /** The 32 bytes of the Ed25519 private key, in hexadecimal. */
  readonly ed25519PrivateHex: string
  /** The X25519 public key, in Base64. */
  readonly x25519: string
}

/** A key pair, and the uuid, alias and token the relay gave its account. */
export class WireAccount {
  /** The relay's address; with several nodes, that of the node that its next request goes to. */
  base: string
  readonly ed25519: string
  readonly x25519: string
  readonly #privateKey: ReturnType<typeof createPrivateKey>
  uuid = ''
  alias = ''
  token = ''

  /** @param keys new ones by default */
  constructor(relayUrl: string, keys?: KnownKeys) {
    this.base = relayUrl
    this.#privateKey = keys ? privateKeyOf(keys.ed25519PrivateHex) : generateKeyPairSync('ed25519').privateKey
    this.ed25519 = rawKey(createPublicKey(this.#privateKey))
    this.x25519 = keys?.x25519 ?? rawKey(generateKeyPairSync('x25519').publicKey)
  }

  api(path: string): string {
    return `${this.base}/api/v1${path}`
  }

  sign(text: string): string {
    return sign(null, Buffer.from(text), this.#privateKey).toString('base64')
  }

  /**
   * Registers with a proof of work and names its challenge. Published clients do not name it. These tests do,
   * because tests that run at the same time share an address.
   * @param more further fields, such as `invite`
   */
  async register(nickname = 'wire', more: Json = {}): Promise<Answer> {
    const { body } = await call(this.api('/pow/challenge'), { method: 'POST' })
    const answer = await post(this.api('/register'), {
      ed25519_public_key: this.ed25519,
      x25519_public_key: this.x25519,
      nickname,
      pow_challenge: body.challenge_string,
      pow_nonce: solve(body.challenge_string, body.difficulty),
      ...more,
    })
    this.uuid = answer.body.uuid
    this.alias = answer.body.alias_id
    return answer
  }

  async login(): Promise<string> {
    const { body } = await post(this.api('/auth/challenge'), { user_uuid: this.uuid })
    const answer = await post(this.api('/auth/verify'), {
      user_uuid: this.uuid,
      challenge: body.challenge,
      signature: this.sign(body.challenge),
    })
    this.token = answer.body.token
    return this.token
  }

  authorized(): Record<string, string> {
    return { authorization: `Bearer ${this.token}` }
  }

  get(path: string): Promise<Answer> {
    return call(this.api(path), { headers: this.authorized() })
  }

  /** A request with the token and no body or type, as published clients send them. */
  bare(method: string, path: string): Promise<Answer> {
    return call(this.api(path), { method, headers: this.authorized() })
  }

  post(path: string, body: unknown): Promise<Answer> {
    return post(this.api(path), body, this.authorized())
  }

  /** Reports somebody or something to the operator. */
  report(body: unknown): Promise<Answer> {
    return call(this.api('/reports'), {
      method: 'PUT',
      headers: { ...this.authorized(), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  }

  async ticket(): Promise<string> {
    return (await this.bare('POST', '/ws/ticket')).body.ticket
  }

  /** Opens a WebSocket with a ticket. */
  async connect(): Promise<WireSocket> {
    return await WireSocket.open(`${this.wsUrl()}?user_uuid=${this.uuid}&ticket=${await this.ticket()}`)
  }

  /** Opens a WebSocket as older clients do, with the token in the URL. */
  connectByToken(token = this.token): Promise<WireSocket> {
    return WireSocket.open(`${this.wsUrl()}?user_uuid=${this.uuid}&token=${token}`)
  }

  /**
   * Opens a WebSocket, reads its backlog, and then says that it reads receipts up to their `seq`, which sends
   * the marks.
   * @param more further fields of its `sync`
   * @returns the socket, and all these frames with one `sync_end`, which has the sum of both counts
   */
  async online(more: Json = {}): Promise<{ socket: WireSocket; backlog: Frame[] }> {
    const socket = await this.connect()
    const stored = await socket.untilSynced()
    const marks = await socket.synced(more)
    const { count } = stored.pop()
    const { count: countOfMarks, ...end } = marks.pop()
    return { socket, backlog: [...stored, ...marks, { ...end, count: count + countOfMarks }] }
  }

  wsUrl(): string {
    return `${this.base.replace('http', 'ws')}/ws`
  }
}

/** The smallest decimal text that solves a challenge. */
export function solve(challenge: string, difficulty: number): string {
  for (let nonce = 0; ; nonce++) if (isSolution(challenge, String(nonce), difficulty)) return String(nonce)
}

/** Whether a nonce solves a challenge. */
export function isSolution(challenge: string, nonce: string, difficulty: number): boolean {
  const digest = createHash('sha256')
    .update(challenge + nonce)
    .digest('hex')
  return digest.startsWith('0'.repeat(difficulty))
}

// biome-ignore lint/suspicious/noExplicitAny: see Answer.body
type Frame = any

/** A WebSocket that keeps received frames until a test takes them. */
export class WireSocket {
  readonly socket: WebSocket
  readonly frames: Frame[] = []
  readonly closed: Promise<{ code: number; reason: string }>
  #waiting: (() => void)[] = []
  #isClosed = false

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.addEventListener('message', ({ data }) => {
      this.frames.push(JSON.parse(String(data)))
      for (const wake of this.#waiting.splice(0)) wake()
    })
    this.closed = new Promise((resolve) => {
      socket.addEventListener('close', ({ code, reason }) => {
        this.#isClosed = true
        resolve({ code, reason })
        for (const wake of this.#waiting.splice(0)) wake()
      })
    })
  }

  static async open(url: string): Promise<WireSocket> {
    const socket = new WireSocket(new WebSocket(url))
    await new Promise<void>((resolve, reject) => {
      socket.socket.addEventListener('open', () => resolve())
      socket.socket.addEventListener('close', ({ code }) =>
        reject(new Error(`closed with ${code} before it was open`)),
      )
    })
    return socket
  }

  send(frame: Json | string): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }

  /**
   * Takes the next received frame of this type, or of any type if none is given. Waits for it if necessary.
   */
  async next(type?: string, withinMs = 45_000): Promise<Frame> {
    const late = performance.now() + withinMs
    for (;;) {
      const index = this.frames.findIndex((frame) => type === undefined || frame.type === type)
      if (index >= 0) return this.frames.splice(index, 1)[0]
      const left = late - performance.now()
      if (left <= 0 || this.#isClosed)
        throw new Error(
          `no ${type ?? 'frame'} arrived; frames not yet taken: ${JSON.stringify(this.frames).slice(0, 400)}`,
        )
      await this.#change(left)
    }
  }

  /** Takes the next `count` frames of a type, in order. */
  async take(count: number, type?: string): Promise<Frame[]> {
    const taken: Frame[] = []
    while (taken.length < count) taken.push(await this.next(type))
    return taken
  }

  /**
   * Says that it reads receipts up to their `seq`, as new clients do. Call this after the backlog. @returns
   * the frames up to `sync_end`
   * @param more further fields of the `sync`
   */
  synced(more: Json = {}): Promise<Frame[]> {
    this.send({ type: 'sync', receipts: 'by_seq', ...more })
    return this.untilSynced()
  }

  /** Takes the frames up to the next `sync_end`, which is the last one returned. */
  async untilSynced(): Promise<Frame[]> {
    const taken: Frame[] = []
    do taken.push(await this.next())
    while (taken.at(-1).type !== 'sync_end')
    return taken
  }

  /**
   * Sends a ping. @returns the frames that arrived before the pong: everything the relay had sent until then
   */
  async untilPong(): Promise<Frame[]> {
    this.send({ type: 'ping' })
    const taken: Frame[] = []
    do taken.push(await this.next())
    while (taken.at(-1).type !== 'pong')
    return taken.slice(0, -1)
  }

  /** Waits this long. @returns all received frames of this type, or of any type if none is given */
  async during(ms: number, type?: string): Promise<Frame[]> {
    await new Promise((resolve) => setTimeout(resolve, ms))
    const found = this.frames.filter((frame) => type === undefined || frame.type === type)
    for (const frame of found) this.frames.splice(this.frames.indexOf(frame), 1)
    return found
  }

  async close(): Promise<void> {
    this.socket.close()
    await this.closed
  }

  #change(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs)
      this.#waiting.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}

/** A registered, logged-in account. */
export async function wireAccount(
  relayUrl: string,
  nickname?: string,
  keys?: KnownKeys,
): Promise<WireAccount> {
  const account = new WireAccount(relayUrl, keys)
  await account.register(nickname)
  await account.login()
  return account
}

/** Two registered, logged-in friends and their conversation. */
export async function wireFriends(
  relayUrl: string,
): Promise<{ alice: WireAccount; bob: WireAccount; conv: string }> {
  const alice = await wireAccount(relayUrl)
  const bob = await wireAccount(relayUrl)
  return { alice, bob, conv: await befriend(alice, bob) }
}

/** Makes two accounts friends. @returns their `conv_id` */
export async function befriend(alice: WireAccount, bob: WireAccount): Promise<string> {
  const asked = await alice.post('/friends/request', { to_alias_id: bob.alias })
  const accepted = await bob.bare('PUT', `/friends/${asked.body.friendship_id}/accept`)
  return accepted.body.conversation_id
}

/** A message frame; the payload is Base64, as ciphertext would be. */
export function message(to: string, conv: string, text: string, id: string = crypto.randomUUID()): Json {
  return { type: 'msg', id, to, conv_id: conv, crypto_v: 1, payload: Buffer.from(text).toString('base64') }
}

/** A message of `crypto_v` 3 in an epoch; the payload is Base64, as ciphertext would be. */
export function messageIn(epoch: number, to: string, conv: string, id: string = crypto.randomUUID()): Json {
  return { ...message(to, conv, id, id), crypto_v: 3, epoch }
}

/** A message of `crypto_v` 3 that ends an epoch. */
export function handshake(
  to: string,
  conv: string,
  epoch: number,
  { id = crypto.randomUUID(), info = 'sealed' }: { id?: string; info?: string } = {},
): Json {
  return { ...messageIn(epoch, to, conv, id), group_info: Buffer.from(info).toString('base64') }
}
