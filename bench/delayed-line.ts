// A proxy in front of a server that delays everything by the same time, in each direction.
import { createServer, connect as dial, type Socket } from 'node:net'

/** A proxy that is far away. */
export interface DelayedLine {
  readonly url: string
  stop(): void
}

/** Starts a proxy in front of the server at this address. A round trip through it takes `roundTripMs`. */
export async function startDelayedLine(target: string, roundTripMs: number): Promise<DelayedLine> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (near) => {
    const far = dial({ host: hostname, port: Number(port), noDelay: true })
    pass(near, far, roundTripMs / 2)
    pass(far, near, roundTripMs / 2)
    for (const socket of [near, far]) sockets.add(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    stop: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

function pass(from: Socket, to: Socket, delayMs: number): void {
  let before: Promise<void> = Promise.resolve()
  const later = (work: () => void): void => {
    const due = Bun.sleep(delayMs)
    // In order, whatever the timers do.
    before = Promise.all([before, due]).then(work)
  }
  from.on('data', (bytes) => later(() => to.write(bytes)))
  from.on('end', () => later(() => to.end()))
  from.on('error', () => to.destroy())
}
