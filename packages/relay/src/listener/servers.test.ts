// The servers of one port: nobody else shares it, and an old one lives as long as its connections.
import { expect, test } from 'bun:test'
import { connect, type TLSSocket } from 'node:tls'
import { certify } from '../../test/certificate.ts'
import type { SocketData } from '../gateway/gateway.ts'
import { type ServerOptions, Servers } from './servers.ts'

const certificates = [certify(['localhost']), certify(['localhost'])] as const
const authorities = certificates.map(({ authority }) => authority)

function open({ tls, ...options }: ServerOptions) {
  return Bun.serve<SocketData>({
    hostname: '127.0.0.1',
    ...options,
    ...(tls ? { tls } : {}),
    fetch: () => new Response('served'),
    websocket: { message: () => undefined },
  })
}

function connected(port: number): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: authorities }, () =>
      resolve(socket),
    )
    socket.once('error', reject)
  })
}

/** The answer to one request on a connection that stays. */
function answerOn(socket: TLSSocket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('data', (data) => resolve(String(data)))
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
  })
}

test('a port with TLS is not shared with another relay', async () => {
  const first = new Servers(open, { port: 0, tls: certificates[0] })
  expect(() => new Servers(open, { port: first.port, tls: certificates[1] })).toThrow('in use')
  await first.close(1000)
})

test('a connection to an old server goes on, also after the next certificate, and close() ends all', async () => {
  const servers = new Servers(open, { port: 0, tls: certificates[0], handoverMs: 60_000 })
  const sockets = [await connected(servers.port)]
  for (const n of [1, 0]) {
    servers.useCertificate(certificates[n === 1 ? 1 : 0])
    sockets.push(await connected(servers.port))
    expect(await answerOn(sockets[sockets.length - 1] as TLSSocket)).toContain('served')
  }
  const [first, second, third] = sockets.map((socket) => socket.getPeerX509Certificate()?.fingerprint256)
  expect(first).not.toBe(second)
  expect(third).toBe(first)
  // It belongs to the server before the newest, which still accepts connections.
  expect(await answerOn(sockets[1] as TLSSocket)).toContain('served')
  const ended = Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve))))
  await servers.close(1000)
  await ended
})
