// Connections that are opened to keep others out: of one address, and of a process with few descriptors.
import { describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { attackWith } from './connection-attack.ts'
import { expectProblem } from './expect.ts'
import { MediaAccount, noise, PART_BYTES } from './media-wire.ts'
import { requestOf } from './raw.ts'
import { untilLogged } from './until-logged.ts'
import { useRelay } from './use-relay.ts'
import { call, message, wireFriends } from './wire.ts'

/** Where the attack comes from. All of 127.0.0.0/8 is this machine. */
const ATTACKER = '127.0.0.2'
const BYSTANDER = '127.0.0.3'
/**
 * Without defence, nobody is answered until the first of an attacker's connections time out, after 12 seconds
 * at least. With it, the answer takes 0.2 s at most; a busy machine is slower. The time is the promise.
 */
const MOST_MS = 5000
/** What an attacker's connection sends. */
const KINDS = {
  idle: requestOf('GET /health', { connection: 'keep-alive' }),
  silent: '',
  'half-sent': 'GET /health HTTP/1.1\r\nhost: relay.example\r\nx-more: ',
  'with half a body': 'POST /api/v1/auth/challenge HTTP/1.1\r\nhost: a\r\ncontent-length: 99\r\n\r\n{',
}

describe('a process with 700 descriptors', () => {
  const relay = useRelay({}, { descriptors: 700 })

  for (const [kind, bytes] of Object.entries(KINDS)) {
    test(`answers another address while one address opens 900 connections that stay ${kind}`, async () => {
      const { alice, bob, conv } = await wireFriends(relay.url)
      const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
      await using attack = await attackWith(relay.url, { from: ATTACKER, count: 900, bytes })
      for (let n = 0; n < 20; n++) {
        expect(await millisecondsToHealth(relay.url)).toBeLessThan(MOST_MS)
        alices.send(message(bob.alias, conv, 'x'))
        await bobs.next('msg')
        await attack.reopened()
      }
      await alice.login()
      const { socket } = await alice.online() // Who is logged in can connect.
      await socket.close()
    })
  }

  test('a download goes on while its own address opens 900 connections that stay idle', async () => {
    // As through a proxy that reports no addresses, or behind the same NAT as the attacker.
    const { socket, bytes } = await beginDownload(relay.url, ATTACKER)
    await using attack = await attackWith(relay.url, { from: ATTACKER, count: 900, bytes: KINDS.idle })
    for (let n = 0; n < 5; n++) {
      expect(await millisecondsToHealth(relay.url)).toBeLessThan(MOST_MS)
      await attack.reopened()
    }
    expect(await restOf(socket)).toBe(bytes)
  })

  test('answers another address while four addresses begin 512 downloads and do not read', async () => {
    const media = await MediaAccount.make(relay.url)
    const part = noise(PART_BYTES)
    const key = await media.upload(part, part)
    const request = requestOf(`GET /api/v1/media/download?key=${key}`, {
      ...media.account.authorized(),
      connection: 'keep-alive',
    })
    const { hostname: host, port } = new URL(relay.url)
    const sockets: Socket[] = []
    for (let n = 0; n < 512; n++) {
      const socket = connect({ host, port: Number(port), localAddress: `127.0.1.${1 + (n % 4)}` })
      sockets.push(socket)
      socket.on('error', () => undefined)
      socket.on('connect', () => socket.write(request))
      if (n % 4 !== 3) continue
      await Bun.sleep(10) // Very many between two checks could still take what is left of the descriptors.
      expect(await millisecondsToHealth(relay.url)).toBeLessThan(5000)
    }
    for (let n = 0; n < 20; n++) {
      await Bun.sleep(30)
      expect(await millisecondsToHealth(relay.url)).toBeLessThan(5000)
    }
    for (const socket of sockets) socket.destroy()
  })
})

describe('another process with 700 descriptors', () => {
  const relay = useRelay({}, { descriptors: 700 })

  test('logs once what it closed, and for whom', async () => {
    await relay.process.letPass(0) // Stops its clock: it logs this once a minute.
    await using attack = await attackWith(relay.url, { from: ATTACKER, count: 900, bytes: KINDS.silent })
    for (let n = 0; n < 20; n++) await attack.reopened()
    await untilLogged(relay.process, 'connections_closed')
    const lines = relay.process
      .errors()
      .split('\n')
      .filter((line) => line.includes('"connections_closed"'))
    expect(lines.length).toBe(1)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'warn',
      address: ATTACKER,
      count: expect.any(Number),
    })
  })
})

describe('one address', () => {
  const relay = useRelay({ LIMIT_ADDRESS_CONNECTIONS: '4', TRUST_PROXY: '1' })
  const from = (address: string) => ({ 'x-forwarded-for': address })

  test('has only so many requests under way and WebSockets; others are not affected', async () => {
    const { alice, bob } = await wireFriends(relay.url)
    const [one, two] = [await alice.connect(), await bob.connect()] // Of the proxy’s own address.
    const held = [await hold(relay.url, {}), await hold(relay.url, {})]
    const refused = await call(`${relay.url}/health`)
    expectProblem(refused, 429, 'RATE_LIMITED', { limit: 'addressConnections' })
    expect(refused.headers.get('connection')).toBe('close')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await call(`${relay.url}/health`, { headers: from('198.51.100.1') })).status).toBe(200)
    // Each of them gives its place back when it ends.
    await one.close()
    expect((await healthOnceFree(relay.url)).status).toBe(200)
    held.push(await hold(relay.url, {}))
    expect((await call(`${relay.url}/health`)).status).toBe(429)
    for (const socket of held) socket.destroy()
    expect((await healthOnceFree(relay.url)).status).toBe(200)
    await two.close()
    await untilLogged(relay.process, 'address_connections_refused')
    expect(relay.process.errors().split('"address_connections_refused"').length - 1).toBe(1)
  })
})

describe('all connections', () => {
  const relay = useRelay({ LIMIT_CONNECTIONS: '8', LIMIT_ADDRESS_CONNECTIONS: '100' })

  test('leave an eighth for those who are logged in', async () => {
    const { alice } = await wireFriends(relay.url)
    const held: Socket[] = []
    for (let n = 0; n < 7; n++) held.push(await hold(relay.url, {}))
    const refused = await call(`${relay.url}/health`)
    expectProblem(refused, 503, 'TOO_MANY_CONNECTIONS')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const { socket } = await alice.online()
    expectProblem(await alice.get('/me'), 503, 'TOO_MANY_CONNECTIONS') // This was the last one.
    expect(await socket.untilPong()).toEqual([])
    for (const one of held) one.destroy()
    expect((await healthOnceFree(relay.url)).status).toBe(200)
    await socket.close()
  })
})

/** How long a new connection of another address takes to get an answer. */
function millisecondsToHealth(relayUrl: string): Promise<number> {
  const { hostname, port } = new URL(relayUrl)
  const start = performance.now()
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), localAddress: BYSTANDER })
    socket.on('connect', () => socket.write(requestOf('GET /health')))
    socket.once('data', (data) => {
      socket.destroy()
      if (data.toString('latin1').startsWith('HTTP/1.1 200')) resolve(performance.now() - start)
      else reject(new Error(`another address got ${data.toString('latin1', 0, 60)}`))
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the connection of another address was closed')))
  })
}

/**
 * A request that stays under way, because its body is not complete. Returns once the relay has counted it.
 */
async function hold(relayUrl: string, headers: Record<string, string>): Promise<Socket> {
  const { hostname, port } = new URL(relayUrl)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => undefined)
  const all = { ...headers, 'content-length': '99', expect: '100-continue' }
  socket.write(`${requestOf('POST /api/v1/auth/challenge', all)}{`)
  await new Promise((resolve) => socket.once('data', resolve)) // 100 Continue
  return socket
}

/** Requests a blob that is larger than what the system buffers, and stops reading once it arrives. */
async function beginDownload(
  relayUrl: string,
  localAddress: string,
): Promise<{ socket: Socket; bytes: number }> {
  const media = await MediaAccount.make(relayUrl)
  const part = noise(PART_BYTES)
  const key = await media.upload(part, part, part, part)
  const { hostname, port } = new URL(relayUrl)
  const socket = connect({ host: hostname, port: Number(port), localAddress })
  socket.write(requestOf(`GET /api/v1/media/download?key=${key}`, media.account.authorized()))
  await new Promise((resolve) => socket.once('readable', resolve))
  return { socket, bytes: 4 * PART_BYTES }
}

/** Reads the answer that was not read yet. @returns the bytes of its body */
async function restOf(socket: Socket): Promise<number> {
  const pieces: Buffer[] = []
  socket.on('data', (data: Buffer) => pieces.push(data))
  await new Promise((resolve) => socket.once('close', resolve))
  const answer = Buffer.concat(pieces)
  return answer.length - answer.indexOf('\r\n\r\n') - 4
}

/** Asks until the relay has noticed that a connection ended. */
async function healthOnceFree(relayUrl: string) {
  for (let tries = 0; ; tries++) {
    const answer = await call(`${relayUrl}/health`)
    if (answer.status === 200 || tries === 200) return answer
    await Bun.sleep(20)
  }
}
