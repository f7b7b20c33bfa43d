// The proxy for tests that stands for a network: it passes, holds, resets and refuses.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createServer, connect as dial, type Server, type Socket } from 'node:net'
import { eventually } from './payment-watch.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

const echoes: { server: Server; port: number; open: Set<Socket> }[] = []
let proxy: TcpProxy

beforeAll(async () => {
  for (const name of ['first', 'second']) {
    const open = new Set<Socket>()
    const server = createServer((socket) => {
      open.add(socket)
      socket.on('error', () => undefined).on('close', () => open.delete(socket))
      socket.on('data', (piece) => socket.write(`${name}:${piece}`))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('no port')
    echoes.push({ server, port: address.port, open })
  }
  proxy = await startTcpProxy(echoes[0]?.port ?? 0)
})
afterAll(async () => {
  await proxy.stop()
  for (const { server } of echoes) server.close()
})

/** A client of the proxy, which collects what it gets. */
function client() {
  const socket = dial(proxy.port, '127.0.0.1')
  const seen = { text: '', error: '', isClosed: false }
  socket.on('data', (piece) => {
    seen.text += piece
  })
  socket.on('error', (error) => {
    seen.error = 'code' in error ? String(error.code) : error.message
  })
  socket.on('close', () => {
    seen.isClosed = true
  })
  return { socket, seen }
}

test('it passes bytes in both directions, and the end of a connection', async () => {
  const { socket, seen } = client()
  socket.write('a')
  await eventually(() => expect(seen.text).toBe('first:a'))
  socket.destroy()
  await eventually(() => expect(echoes[0]?.open.size).toBe(0))
})

test('what it holds arrives in order after it passes again, also on connections made meanwhile', async () => {
  const { socket, seen } = client()
  socket.write('a')
  await eventually(() => expect(seen.text).toBe('first:a'))
  proxy.stall()
  socket.write('b')
  const later = client()
  later.socket.write('c')
  await new Promise((resolve) => later.socket.once('connect', resolve))
  // What the server says and ends meanwhile is not heard.
  for (const each of echoes[0]?.open ?? []) each.end('bye')
  expect([seen.text, seen.isClosed, later.seen.text]).toEqual(['first:a', false, ''])
  await proxy.pass()
  await eventually(() =>
    expect([seen.text.startsWith('first:abye'), later.seen.text]).toEqual([true, 'first:c']),
  )
  await eventually(() => expect(seen.isClosed).toBe(true))
  later.socket.destroy()
})

test('it resets connections, and refuses new ones until it passes again', async () => {
  const dropped = client()
  dropped.socket.write('a')
  await eventually(() => expect(dropped.seen.text).toBe('first:a'))
  proxy.drop()
  await eventually(() => expect(dropped.seen).toMatchObject({ isClosed: true, error: 'ECONNRESET' }))
  await proxy.refuse()
  const refused = client()
  await eventually(() => expect(refused.seen.error).toBe('ECONNREFUSED'))
  await proxy.pass()
  const again = client()
  again.socket.write('b')
  await eventually(() => expect(again.seen.text).toBe('first:b'))
  again.socket.destroy()
})

test('it delays each direction, and leads new connections elsewhere', async () => {
  proxy.leadTo(echoes[1]?.port ?? 0)
  proxy.delay(50)
  const { socket, seen } = client()
  await new Promise((resolve) => socket.once('connect', resolve))
  const startedAt = performance.now()
  socket.write('a')
  await eventually(() => expect(seen.text).toBe('second:a'))
  expect(performance.now() - startedAt).toBeGreaterThan(99)
  socket.destroy()
})
