// What a hostile server can make of one post: heads without end, answers that are none, certificates that are not its own.
import { afterEach, expect, test } from 'bun:test'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { certify } from '../../test/certificate.ts'
import { postOnce } from './post-once.ts'

const never = new AbortController().signal
const certificate = certify(['push.test'])
const servers: { close(): unknown }[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** A server that says what it is told as soon as it is asked, and what it heard. */
async function server(answering: (socket: TLSSocket) => void, host = '127.0.0.1') {
  const heard: string[] = []
  const listening = createServer(certificate, (socket) => {
    socket.on('error', () => undefined) // Whoever asked has gone.
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

/** Says the same again and again, for as long as somebody listens. */
function endless(first: string, again: string) {
  let written = 0
  const ended = Promise.withResolvers<void>()
  const answering = (socket: TLSSocket): void => {
    const more = (error?: Error | null): void => {
      // Told at once, and the end of the connection never: whoever wrote on would keep everything else from its turn.
      if (error || socket.destroyed) return
      written += again.length
      socket.write(again, more)
    }
    socket.once('close', () => ended.resolve())
    socket.write(first, more)
  }
  return { answering, written: () => written, ended: ended.promise }
}

test('what is sent is one request, and nothing more', async () => {
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
  // Interim answers come before the one that counts.
  [
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nRetry-After: 9\r\n\r\nHTTP/1.1 202 A\r\n\r\n',
    202,
    null,
  ],
])('%j is an answer, however it is cut up', async (text, status, retryAfter) => {
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
  ['one field without end', 'HTTP/1.1 201 Created\r\nX: ', 'x'.repeat(65_536)],
  ['fields without end', 'HTTP/1.1 201 Created\r\n', 'X: x\r\n'.repeat(10_000)],
  ['interim answers without end', '', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2000)],
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\n\r\n', 'x'.repeat(65_536)],
])('%s: heard no further than 16 KiB, and no answer', async (_, first, again) => {
  const { answering, written, ended } = endless(first, again)
  const { post } = await server(answering)
  await expect(post({}, AbortSignal.timeout(20_000))).rejects.toThrow(/too large/)
  await ended
  expect(written()).toBeLessThan(16 * 2 ** 20) // What lies in sockets' buffers on both sides.
})

test('a head is heard to its 16 KiB, and one character further', async () => {
  const begun = 'HTTP/1.1 201 Created\r\nX: '
  for (const [length, failure] of [
    [16_384, 'without an answer'],
    [16_385, 'too large'],
  ] as const) {
    const { post } = await server((socket) => socket.end(begun.padEnd(length, 'x')))
    await expect(post()).rejects.toThrow(failure)
  }
})

test.each([
  '220 mail.example ESMTP\r\n\r\n',
  'HTTP/2 201\r\n\r\n',
  'HTTP/1.1 20\r\n\r\n',
  'HTTP/1.1 999 x\r\n\r\n',
  '\r\n\r\n',
])('%j is no answer', async (text) => {
  const { post } = await server((socket) => socket.write(text))
  await expect(post()).rejects.toThrow('not HTTP')
})

test('an answer that ends within its head is none', async () => {
  const { post } = await server((socket) => socket.end('HTTP/1.1 201 Created\r\nX: x\r\n'))
  await expect(post()).rejects.toThrow('without an answer')
})

test('nothing is said to whoever has a certificate for another name, or for a name and not the address', async () => {
  const { post, heard } = await server((socket) => socket.write('HTTP/1.1 201 Created\r\n\r\n'))
  await expect(post({ name: 'other.test' })).rejects.toThrow()
  await expect(post({ name: undefined })).rejects.toThrow()
  await expect(post({ authorities: certify(['push.test']).authority })).rejects.toThrow()
  await expect(post({ authorities: undefined })).rejects.toThrow()
  expect(heard).toEqual([])
  expect((await post()).status).toBe(201)
})

test('it goes over IPv6, too', async () => {
  const { post } = await server((socket) => socket.write('HTTP/1.1 201 Created\r\n\r\n'), '::1')
  expect((await post({ address: '::1' })).status).toBe(201)
})

test('it ends when it is told to, wherever it is', async () => {
  const silent = createTcpServer((socket) => socket.on('error', () => undefined))
  servers.push(silent)
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  await expect(postOnce(postTo(port), AbortSignal.timeout(300))).rejects.toThrow('timed out')
  const { post } = await server(() => undefined)
  await expect(post({}, AbortSignal.timeout(300))).rejects.toThrow('timed out')
  await expect(post({}, AbortSignal.abort(new Error('over')))).rejects.toThrow('over')
})
