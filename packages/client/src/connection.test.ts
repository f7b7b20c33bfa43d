// The life of a connection, with time in the test's hands: heartbeats, waits, and what ends it.
import { expect, test } from 'bun:test'
import { AccountUuid, check } from '@sotto/protocol'
import { settle, TestClock, TestSocket } from '../test/fakes.ts'
import type { ClientError } from './client-error.ts'
import { Connection } from './connection.ts'
import { Http } from './http.ts'
import { Login } from './login.ts'
import { decideOptions } from './options.ts'
import { MemoryStore } from './stores/memory-store.ts'

const uuid = check(AccountUuid, '33333333-3333-4333-8333-333333333333')

class Bench {
  readonly clock = new TestClock()
  readonly sockets: TestSocket[] = []
  readonly states: string[] = []
  readonly goaways: string[] = []
  readonly errors: ClientError[] = []
  readonly calls: string[] = []
  readonly connection: Connection
  /** Who wants to hear that the device is back. */
  readonly wakers = new Set<() => void>()
  /** What tickets are answered with. */
  ticket: () => Response = () => Response.json({ ticket: 't i', expires_in: 30 })
  /** The lots, as the share of what could be drawn. */
  lot = 0.999_999
  isReachable = true

  constructor() {
    const { sockets } = this
    const platform = decideOptions({
      relayUrl: 'https://relay.example/base/',
      store: new MemoryStore(),
      clock: this.clock,
      wake: (callback) => {
        this.wakers.add(callback)
        return () => this.wakers.delete(callback)
      },
      random: (length) => new Uint8Array(length).fill(Math.floor(this.lot * 256)),
      WebSocket: class extends TestSocket {
        constructor(url: string) {
          super(url)
          sockets.push(this)
        }
      },
      fetch: async (url, init) => {
        const path = `${init.method} ${url}`
        this.calls.push(path)
        if (!this.isReachable) throw new TypeError('no network')
        if (path.endsWith('/auth/challenge'))
          return Response.json({ challenge: `relay-auth-v1:relay.example:${uuid}:${'A'.repeat(43)}` })
        if (path.endsWith('/auth/verify'))
          return Response.json({ token: `token${this.calls.length}`, expires_in: 100 })
        return this.ticket()
      },
    })
    const http = new Http(platform)
    const login = new Login(platform, http, { uuid, signingPrivateKey: new Uint8Array(32).fill(7) })
    http.useTokens(login)
    this.connection = new Connection(platform, http, login, uuid, {
      onState: (state) => this.states.push(state),
      onOpen: () => {},
      onFrame: () => {},
      onHeartbeat: () => {},
      onPing: () => {},
      onPong: () => {},
      onGoaway: (reason) => this.goaways.push(reason),
      onError: (error) => this.errors.push(error),
    })
  }

  get socket(): TestSocket {
    const socket = this.sockets.at(-1)
    if (!socket) throw new Error('no socket was made')
    return socket
  }

  /** The network is back, or the page is seen again. */
  wake(): void {
    for (const waker of this.wakers) waker()
  }

  get logins(): number {
    return this.calls.filter((path) => path.endsWith('/auth/verify')).length
  }

  async open(): Promise<TestSocket> {
    this.connection.start()
    await this.#untilSocket(1)
    this.socket.emit('open')
    return this.socket
  }

  async reopened(count: number): Promise<TestSocket> {
    await this.#untilSocket(count)
    return this.socket
  }

  /** Waits for what comes of requests, while its clock stands still. */
  async until(isSo: () => boolean): Promise<void> {
    for (let turn = 0; turn < 2000 && !isSo(); turn += 1) {
      await settle()
      await Bun.sleep(1)
    }
  }

  async #untilSocket(count: number): Promise<void> {
    await this.until(() => this.sockets.length >= count)
    expect(this.sockets.length).toBe(count)
  }
}

test('it logs in, takes a ticket, opens the socket with it, and asks for the backlog', async () => {
  const bench = new Bench()
  const socket = await bench.open()
  expect(bench.calls.map((path) => path.replace('https://relay.example/base/api/v1', ''))).toEqual([
    'POST /auth/challenge',
    'POST /auth/verify',
    'POST /ws/ticket',
  ])
  expect(socket.url).toBe(`wss://relay.example/base/ws?user_uuid=${uuid}&ticket=t+i`)
  expect(socket.sent).toEqual([{ type: 'sync' }])
  expect(bench.states).toEqual(['connecting', 'connected'])
})

test('it sends a ping every 25 seconds, and gives up a connection that does not answer within 10', async () => {
  const bench = new Bench()
  const socket = await bench.open()
  await bench.clock.advance(24_999)
  expect(socket.framesOf('ping').length).toBe(0)
  await bench.clock.advance(1)
  expect(socket.framesOf('ping').length).toBe(1)
  socket.receive({ type: 'pong', at: 1 })
  await bench.clock.advance(25_000)
  expect(socket.framesOf('ping').length).toBe(2)
  expect(bench.connection.state).toBe('connected')
  await bench.clock.advance(9_999)
  expect(socket.closedWith).toBeUndefined()
  await bench.clock.advance(1)
  expect(socket.closedWith).toBe(1000)
  expect(bench.connection.state).toBe('connecting')
})

test('waits grow to 30 seconds at most, are drawn evenly from zero, and start small after a good connection', async () => {
  const bench = new Bench()
  await bench.open()
  const waits: number[] = []
  for (let attempt = 1; attempt <= 8; attempt += 1) {
    bench.socket.emit('close', { code: 1006, reason: '' })
    waits.push(Math.round((bench.clock.waits[0] ?? 0) / 1000))
    await bench.clock.advance(bench.clock.waits[0] ?? 0)
    await bench.reopened(attempt + 1)
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30, 30])
  bench.socket.emit('open')
  await bench.clock.advance(10_000)
  bench.lot = 0.5
  bench.socket.emit('close', { code: 1012, reason: '' })
  expect(bench.clock.waits).toEqual([501])
})

test('a connection that comes up and breaks at once does not make the waits small again', async () => {
  const bench = new Bench()
  await bench.open()
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    bench.socket.emit('close', { code: 1013, reason: '' })
    await bench.clock.advance(bench.clock.waits[0] ?? 0)
    await bench.reopened(attempt + 1)
    bench.socket.emit('open')
    await bench.clock.advance(1000)
  }
  bench.socket.emit('close', { code: 1013, reason: '' })
  expect(bench.clock.waits[0]).toBeGreaterThan(15_000)
})

test('a dead token is replaced: after 4401, after jwt_revoked, and where a ticket is refused for it', async () => {
  const bench = new Bench()
  await bench.open()
  expect(bench.logins).toBe(1)
  bench.socket.emit('close', { code: 4401, reason: '' })
  await bench.clock.advance(1000)
  await bench.reopened(2)
  expect(bench.logins).toBe(2)
  bench.socket.emit('open')
  bench.socket.receive({ type: 'goaway', reason: 'jwt_revoked' })
  expect(bench.goaways).toEqual(['jwt_revoked'])
  expect(bench.connection.state).toBe('connecting')
  await bench.clock.advance(2000)
  await bench.reopened(3)
  expect(bench.logins).toBe(3)

  bench.socket.emit('close', { code: 1006, reason: '' })
  bench.ticket = () => Response.json({ error: 'TOKEN_DEAD' }, { status: 401 })
  await bench.clock.advance(4000)
  // Refused, it waits longer than before, up to eight seconds.
  await bench.until(() => bench.clock.waits.some((ms) => ms > 4000 && ms < 8000))
  bench.ticket = () => Response.json({ ticket: 'x', expires_in: 30 })
  await bench.clock.advance(30_000)
  await bench.reopened(4)
  expect(bench.logins).toBe(4)
})

test('a plain break keeps the token until most of its life is over', async () => {
  const bench = new Bench()
  await bench.open()
  bench.socket.emit('close', { code: 1006, reason: '' })
  await bench.clock.advance(1000)
  await bench.reopened(2)
  expect(bench.logins).toBe(1)
  bench.socket.emit('open')
  for (let beat = 0; beat < 4; beat += 1) {
    await bench.clock.advance(25_000)
    bench.socket.receive({ type: 'pong', at: 1 })
  }
  bench.socket.emit('close', { code: 1006, reason: '' })
  await bench.clock.advance(1000)
  await bench.reopened(3)
  expect(bench.logins).toBe(2)
})

test('another device, or the end of the account, ends it for good', async () => {
  for (const reason of ['new_device_login', 'account_deleted']) {
    const bench = new Bench()
    const socket = await bench.open()
    socket.receive({ type: 'goaway', reason })
    socket.emit('close', { code: 4409, reason: '' })
    await bench.clock.advance(3_600_000)
    expect(bench.sockets.length).toBe(1)
    expect(bench.states).toEqual(['connecting', 'connected', 'disconnected'])
    expect(bench.goaways).toEqual([reason])
  }
})

test('a relay that cannot be reached is tried again and again, without a word', async () => {
  const bench = new Bench()
  bench.isReachable = false
  bench.connection.start()
  for (let turn = 0; turn < 20; turn += 1) {
    const asked = bench.calls.length
    await bench.clock.advance(30_000)
    await bench.until(() => bench.calls.length > asked)
  }
  expect(bench.calls.length).toBeGreaterThan(10)
  expect(bench.errors).toEqual([])
  bench.isReachable = true
  await bench.clock.advance(30_000)
  await bench.reopened(1)
})

test('a relay that asks for a wait is given it, up to five minutes', async () => {
  const bench = new Bench()
  bench.ticket = () =>
    Response.json({ error: 'RATE_LIMITED' }, { status: 429, headers: { 'retry-after': '120' } })
  bench.connection.start()
  await bench.until(() => bench.clock.waits.at(-1) === 120_000)
  expect(bench.clock.waits.at(-1)).toBe(120_000)
  bench.ticket = () =>
    Response.json({ error: 'RATE_LIMITED' }, { status: 429, headers: { 'retry-after': '1e9' } })
  await bench.clock.advance(120_000)
  await bench.until(() => bench.clock.waits.at(-1) === 300_000)
  expect(bench.clock.waits.at(-1)).toBe(300_000)
  expect(bench.errors.map(({ refusal }) => refusal)).toEqual(['RATE_LIMITED', 'RATE_LIMITED'])
})

test('a socket that does not open within 15 seconds is given up', async () => {
  const bench = new Bench()
  bench.connection.start()
  await bench.reopened(1)
  await bench.clock.advance(15_000)
  expect(bench.socket.closedWith).toBe(1000)
  await bench.clock.advance(1000)
  await bench.reopened(2)
})

test('what an abandoned socket still says is not heard', async () => {
  const bench = new Bench()
  const old = await bench.open()
  bench.connection.reopen()
  old.receive({ type: 'goaway', reason: 'account_deleted' })
  old.emit('close', { code: 4401, reason: '' })
  await bench.clock.advance(1000)
  await bench.reopened(2)
  expect(bench.goaways).toEqual([])
  expect(bench.logins).toBe(1)
})

test('stopped, it leaves no timer behind', async () => {
  const bench = new Bench()
  const socket = await bench.open()
  bench.connection.stop()
  expect(socket.closedWith).toBe(1000)
  expect(bench.clock.waits).toEqual([])
  expect(bench.connection.send({ type: 'ping' })).toBe(false)
})

test('a wait for the next attempt ends when the device is back, and the waits start small again', async () => {
  const bench = new Bench()
  await bench.open()
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    bench.socket.emit('close', { code: 1006, reason: '' })
    await bench.clock.advance(bench.clock.waits[0] ?? 0)
    await bench.reopened(attempt + 1)
  }
  bench.socket.emit('close', { code: 1006, reason: '' })
  expect(bench.clock.waits[0]).toBeGreaterThan(15_000)
  bench.wake()
  bench.wake()
  await bench.reopened(6)
  bench.socket.emit('close', { code: 1006, reason: '' })
  expect(bench.clock.waits[0]).toBeLessThanOrEqual(1000)
})

test('a wait the relay asked for is kept, whoever comes back', async () => {
  const bench = new Bench()
  bench.ticket = () =>
    Response.json({ error: 'RATE_LIMITED' }, { status: 429, headers: { 'retry-after': '20' } })
  bench.connection.start()
  await bench.until(() => bench.clock.waits.at(-1) === 20_000)
  const calls = bench.calls.length
  bench.wake()
  await settle()
  expect(bench.clock.waits).toEqual([20_000])
  expect(bench.calls.length).toBe(calls)
})

test('a connection that was open before a sleep is asked at once, and given up if it says nothing', async () => {
  const bench = new Bench()
  const socket = await bench.open()
  bench.wake()
  bench.wake()
  expect(socket.framesOf('ping').length).toBe(1)
  socket.receive({ type: 'pong', at: 1 })
  await bench.clock.advance(5000)
  expect(bench.connection.state).toBe('connected')
  bench.wake()
  expect(socket.framesOf('ping').length).toBe(2)
  await bench.clock.advance(5000)
  expect(socket.closedWith).toBe(1000)
  expect(bench.connection.state).toBe('connecting')
})

test('an attempt from before a sleep is begun anew', async () => {
  const bench = new Bench()
  await bench.open()
  bench.socket.emit('close', { code: 1006, reason: '' })
  await bench.clock.advance(bench.clock.waits[0] ?? 0)
  const hanging = await bench.reopened(2)
  bench.wake()
  await settle()
  expect(hanging.closedWith).toBeUndefined()
  await bench.clock.advance(6000)
  bench.wake()
  await bench.reopened(3)
  expect(hanging.closedWith).toBe(1000)
})

test('one ping is out at a time, so that a pong says what it seems to', async () => {
  const bench = new Bench()
  const socket = await bench.open()
  await bench.clock.advance(25_000)
  for (let second = 0; second < 40; second += 1) {
    socket.receive({ type: 'typing', to: 'abc', conv_id: uuid, from: 'bob' })
    await bench.clock.advance(1000)
  }
  expect(socket.framesOf('ping').length).toBe(1)
  expect(bench.connection.state).toBe('connected')
  socket.receive({ type: 'pong', at: 1 })
  await bench.clock.advance(25_000)
  expect(socket.framesOf('ping').length).toBe(2)
})

test('who is refused for good is told, and asks no more', async () => {
  const bench = new Bench()
  bench.ticket = () => Response.json({ error: 'NOT_FOUND' }, { status: 404 })
  bench.connection.start()
  await bench.until(() => bench.errors.length > 0)
  expect(bench.errors).toMatchObject([{ refusal: 'NOT_FOUND' }])
  expect(bench.connection.state).toBe('disconnected')
  expect(bench.clock.waits).toEqual([])
  expect(bench.wakers.size).toBe(0)
})
