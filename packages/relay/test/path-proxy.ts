// A reverse proxy for tests, which serves a relay below a path of its own address, as nginx does.
import { createServer, type IncomingMessage, request } from 'node:http'
import type { Duplex } from 'node:stream'
import { findFreePort } from './free-port.ts'

/** An open proxy. */
export interface PathProxy {
  /** Its address with the path, such as `http://127.0.0.1:21000/sotto`. */
  readonly url: string
  /** What clients asked for outside of the path, which no relay may send them to. */
  readonly strays: readonly string[]
  /** From now on, requests go to this relay. */
  leadTo(relayUrl: string): void
  close(): void
}

/** Opens a proxy. It removes the path from what it passes on. */
export async function openPathProxy(path = '/sotto'): Promise<PathProxy> {
  const strays: string[] = []
  const sockets = new Set<Duplex>()
  let relay = ''
  const behind = (asked: IncomingMessage) => {
    const target = asked.url ?? ''
    if (!target.startsWith(`${path}/`)) {
      strays.push(target)
      return undefined
    }
    const headers = { ...asked.headers, 'x-forwarded-for': asked.socket.remoteAddress }
    return request(relay + target.slice(path.length), { method: asked.method, headers, agent: false })
  }
  const server = createServer((asked, answer) => {
    const further = behind(asked)
    if (!further) {
      answer.writeHead(404).end()
      return
    }
    further.on('response', (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers)
      got.pipe(answer)
    })
    further.on('error', () => answer.destroy())
    answer.on('close', () => further.destroy())
    asked.pipe(further)
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('upgrade', (asked: IncomingMessage, near: Duplex, head: Buffer) => {
    const further = behind(asked)
    if (!further) {
      near.destroy()
      return
    }
    further.on('upgrade', (got, far, firstBytes) => {
      const headers = Object.entries(got.headers).map(([name, value]) => `${name}: ${value}\r\n`)
      near.write(`HTTP/1.1 101 Switching Protocols\r\n${headers.join('')}\r\n`)
      near.write(firstBytes)
      far.write(head)
      near.pipe(far)
      far.pipe(near)
      near.on('close', () => far.destroy())
      far.on('close', () => near.destroy())
      // The two ends notice by themselves.
      near.on('error', () => undefined)
      far.on('error', () => undefined)
    })
    further.on('error', () => near.destroy())
    further.end()
  })
  const port = await findFreePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${port}${path}`,
    strays,
    leadTo: (relayUrl) => {
      relay = relayUrl
    },
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
