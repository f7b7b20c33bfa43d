// What a hostile server can do during one post: endless heads, answers that are not HTTP, certificates of
// another host.
import { afterEach, expect, test } from 'bun:test'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { certify } from '../../test/certificate.ts'
import { postOnce } from './post-once.ts'

const never = new AbortController().signal
const certificate = certify(['push.test'])
const servers: { close(): unknown }[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** A TLS server that answers every request with `answering` and records the bytes it receives. */
async function server(answering: (socket: TLSSocket) => void, host = '127.0.0.1') {
  const heard: string[] = []
  const listening = createServer(certificate, (socket) => {
    socket.on('error', () => undefined) // The client has disconnected.
    socket.on('data', (piece) => heard.push(piece.toString('latin1')))
    socket.once('data', () => answering(socket))
  })
  servers.push(listening)
  await new Promise<void>((resolve) => listening.listen(0, host, resolve))
  const { port } = listening.address() as AddressInfo
  return { port, heard, post: (changed = {}, signal = never) => postOnce(postTo(port, changed), signal) }
}

function postTo(port: number, changed: object = {}) {
  return {
    ...{ address: '127.0.0.1', port, name: 'push.test', authorities: certificate.authority },
    ...{ target: '/a?b=c', headers: { host: 'push.test', ttl: '1' }, body: new Uint8Array([1, 2, 3]) },
    ...changed,
  }
}

/** Sends `first`, and then `again` repeatedly until the client disconnects. */
function endless(first: string, again: string) {
  let written = 0
  const ended = Promise.withResolvers<void>()
  const answering = (socket: TLSSocket): void => {
    const more = (error?: Error | null): void => {
      // After the client disconnects, `write` reports errors at once and `close` may never come. Without this
      // check the loop would block the event loop.
      if (error || socket.destroyed) return
      written += again.length
      socket.write(again, more)
    }
    socket.once('close', () => ended.resolve())
    socket.write(first, more)
  }
  return { answering, written: () => written, ended: ended.promise }
}

test('sends exactly one request', async () => {
  const { post, heard } = await server((socket) => socket.write('HTTP/1.1 201 Created\r\n\r\n'))
  expect(await post()).toEqual({ status: 201, retryAfter: null })
  const head =
    'POST /a?b=c HTTP/1.1\r\nhost: push.test\r\nttl: 1\r\ncontent-length: 3\r\nconnection: close\r\n\r\n'
  expect(heard.join('')).toBe(`${head}\x01\x02\x03`)
})

test.each([
  ['HTTP/1.1 429 Too Many Requests\r\nX-Retry-After: 1\r\nRETRY-AFTER:\t 7 \r\n\r\n', 429, '7'],
  ['HTTP/1.0 410 Gone\r\n\r\n', 410, null],
  ['HTTP/1.1 500\r\n\r\n', 500, null],
  // Interim answers come before the final answer.
  [
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nRetry-After: 9\r\n\r\nHTTP/1.1 202 A\r\n\r\n',
    202,
    null,
  ],
])('%j is accepted, no matter how it is split', async (text, status, retryAfter) => {
  const whole = await server((socket) => socket.write(text))
  expect(await whole.post()).toEqual({ status, retryAfter })
  const cut = await server(async (socket) => {
    for (const character of text) {
      socket.write(character)
      await Bun.sleep(0)
    }
  })
  expect(await cut.post()).toEqual({ status, retryAfter })
})

test.each([
  ['an endless field', 'HTTP/1.1 201 Created\r\nX: ', 'x'.repeat(65_536)],
  ['endless fields', 'HTTP/1.1 201 Created\r\n', 'X: x\r\n'.repeat(10_000)],
  ['endless interim answers', '', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2000)],
  ['endless blank lines', '', '\r\n'.repeat(30_000)],
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\n\r\n', 'x'.repeat(65_536)],
])('%s: reading stops after 16 KiB, and the post fails', async (_, first, again) => {
  const { answering, written, ended } = endless(first, again)
  const { post } = await server(answering)
  expect(String(await failureOf(post({}, AbortSignal.timeout(20_000))))).toMatch(
    /too large|overflow|status 101/,
  )
  await ended
  expect(written()).toBeLessThan(16 * 2 ** 20) // The socket buffers of both sides.
})

test('accepts a head of 16 KiB and refuses one that is a byte longer', async () => {
  const begun = 'HTTP/1.1 201 Created\r\nX: '
  for (const [length, failure] of [
    [16_384, 'socket hang up'],
    [16_385, 'too large'],
  ] as const) {
    const { post } = await server((socket) => socket.end(begun.padEnd(length, 'x')))
    expect(String(await failureOf(post()))).toMatch(failure)
  }
})

test.each([
  '220 mail.example ESMTP\r\n\r\n',
  'HTTP/2 201\r\n\r\n',
  'HTTP/1.1 20\r\n\r\n',
  'HTTP/1.1 999 x\r\n\r\n',
])('%j is refused', async (text) => {
  const { post } = await server((socket) => socket.write(text))
  expect(String(await failureOf(post()))).toMatch(/Parse Error|not a final HTTP status/)
})

test('accepts an answer no matter how much of its body arrives with the head', async () => {
  const { post } = await server((socket) => socket.end(`HTTP/1.1 201 Created\r\n\r\n${'x'.repeat(262_144)}`))
  expect(await post()).toEqual({ status: 201, retryAfter: null })
})

test('refuses an answer that ends within its head', async () => {
  const { post } = await server((socket) => socket.end('HTTP/1.1 201 Created\r\nX: x\r\n'))
  expect(String(await failureOf(post()))).toContain('socket hang up')
})

test('sends nothing to a server whose certificate is for another name, or for a name instead of the address', async () => {
  const { post, heard } = await server((socket) => socket.write('HTTP/1.1 201 Created\r\n\r\n'))
  expect(await failureOf(post({ name: 'other.test' }))).toBeInstanceOf(Error)
  expect(await failureOf(post({ name: undefined }))).toBeInstanceOf(Error)
  expect(await failureOf(post({ authorities: certify(['push.test']).authority }))).toBeInstanceOf(Error)
  expect(await failureOf(post({ authorities: undefined }))).toBeInstanceOf(Error)
  expect(heard).toEqual([])
  expect((await post()).status).toBe(201)
})

test('works over IPv6', async () => {
  const { post } = await server((socket) => socket.write('HTTP/1.1 201 Created\r\n\r\n'), '::1')
  expect((await post({ address: '::1' })).status).toBe(201)
})

test('ends when its signal is aborted, at any stage', async () => {
  const silent = createTcpServer((socket) => socket.on('error', () => undefined))
  servers.push(silent)
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  expect(String(await failureOf(postOnce(postTo(port), AbortSignal.timeout(300))))).toContain('timed out')
  const { post } = await server(() => undefined)
  expect(String(await failureOf(post({}, AbortSignal.timeout(300))))).toContain('timed out')
  expect(String(await failureOf(post({}, AbortSignal.abort(new Error('over')))))).toContain('over')
})
