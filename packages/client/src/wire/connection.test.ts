// The connection, with a clock that the test controls: heartbeats, waits between attempts, and its end.
import { expect, test } from 'bun:test'
import { AccountUuid, check } from '@sotto/protocol'
import { settle, TestClock, TestSocket } from '../../test/fakes.ts'
import { Login } from '../account/login.ts'
import type { ClientError } from '../client-error.ts'
import { decideOptions } from '../platform/options.ts'
import { MemoryStore } from '../stores/memory-store.ts'
import { Connection } from './connection.ts'
import { Http } from './http.ts'

const uuid = check(AccountUuid, '33333333-3333-4333-8333-333333333333')

class Bench {
  readonly clock = new TestClock()
  readonly sockets: TestSocket[] = []
  readonly states: string[] = []
  readonly goaways: string[] = []
  readonly errors: ClientError[] = []
  readonly calls: string[] = []
  readonly connection: Connection
  /** The callbacks that the client registered for the moment when the device wakes up. */
  readonly wakers = new Set<() => void>()
  /** The relay's answer to a request for a ticket. */
  ticket: () => Response = () => Response.json({ ticket: 't i', expires_in: 30 })
  /** The random fraction that decides each wait: 0 for no wait, 1 for the longest possible wait. */
  randomFraction = 0.999_999
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
      random: (length) => new Uint8Array(length).fill(Math.floor(this.randomFraction * 256)),
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

  /** Reports that the network is back or that the page is visible again. */
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

  /** Waits for the results of requests until `isDone` returns true. The test's clock stands still. */
  async until(isDone: () => boolean): Promise<void> {
    // The login signs in a thread of its own, which a busy machine may let wait for long.
    for (let turn = 0; turn < 40_000 && !isDone(); turn += 1) {
      await settle()
      await Bun.sleep(1)
    }
  }

  async #untilSocket(count: number): Promise<void> {
    await this.until(() => this.sockets.length >= count)
    expect(this.sockets.length).toBe(count)
  }
}

test('the client logs in, gets a ticket, opens the socket with it, and requests the backlog', async () => {
  const bench = new Bench()
  const socket = await bench.open()
  expect(bench.calls.map((path) => path.replace('https://relay.example/base/api/v1', ''))).toEqual([
    'POST /auth/challenge',
    'POST /auth/verify',
    'POST /ws/ticket',
  ])
  expect(socket.url).toBe(`wss://relay.example/base/ws?user_uuid=${uuid}&ticket=t+i`)
  expect(socket.sent).toEqual([{ type: 'sync', receipts: 'by_seq' }])
  expect(bench.states).toEqual(['connecting', 'connected'])
})

test('the client sends a ping every 25 seconds, and closes the connection if no pong arrives in 10 seconds', async () => {
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

test('waits grow to 30 seconds, are uniformly random from zero, and start small after a lasting connection', async () => {
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
  bench.randomFraction = 0.5
  bench.socket.emit('close', { code: 1012, reason: '' })
  expect(bench.clock.waits).toEqual([501])
})

test('a connection that opens and breaks at once does not make the waits small again', async () => {
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

test('a dead token is replaced after close code 4401, after jwt_revoked, and after a refused ticket', async () => {
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
  // After a refusal the wait is longer than before, up to eight seconds.
  await bench.until(() => bench.clock.waits.some((ms) => ms > 4000 && ms < 8000))
  bench.ticket = () => Response.json({ ticket: 'x', expires_in: 30 })
  await bench.clock.advance(30_000)
  await bench.reopened(4)
  expect(bench.logins).toBe(4)
})

test('after a lost connection the token is used again, until most of its lifetime has passed', async () => {
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

test('a login on another device, or the deletion of the account, ends the connection permanently', async () => {
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

test('the client keeps trying to reach an unreachable relay, without an error event', async () => {
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

test('the client waits as long as the relay asks, up to five minutes', async () => {
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

test('a socket that does not open within 15 seconds is closed', async () => {
  const bench = new Bench()
  bench.connection.start()
  await bench.reopened(1)
  await bench.clock.advance(15_000)
  expect(bench.socket.closedWith).toBe(1000)
  await bench.clock.advance(1000)
  await bench.reopened(2)
})

test('events of an abandoned socket are ignored', async () => {
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

test('after stop no timer is left, and no frame is sent', async () => {
  const bench = new Bench()
  const socket = await bench.open()
  bench.connection.stop()
  expect(socket.closedWith).toBe(1000)
  expect(bench.clock.waits).toEqual([])
  expect(bench.connection.send({ type: 'ping' })).toBe(false)
})

test('a wait for the next attempt ends when the device wakes up, and the waits start small again', async () => {
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

test('a wait that the relay asked for does not end when the device wakes up', async () => {
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

test('after a sleep, an open connection is checked with a ping at once, and closed if no pong arrives', async () => {
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

test('when the device wakes up, an attempt that is several seconds old starts again', async () => {
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

test('no ping is sent before the last one is answered, so each pong answers a known ping', async () => {
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

test('a refusal that a retry cannot change is reported, and ends the attempts', async () => {
  const bench = new Bench()
  bench.ticket = () => Response.json({ error: 'NOT_FOUND' }, { status: 404 })
  bench.connection.start()
  await bench.until(() => bench.errors.length > 0)
  expect(bench.errors).toMatchObject([{ refusal: 'NOT_FOUND' }])
  expect(bench.connection.state).toBe('disconnected')
  expect(bench.clock.waits).toEqual([])
  expect(bench.wakers.size).toBe(0)
})
