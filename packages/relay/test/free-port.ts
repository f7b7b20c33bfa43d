// Ports for servers of tests that take one and the same again after they were killed.
import { createServer } from 'node:net'

/**
 * A port nobody listens on. Below 32768, where no system takes the port of an outgoing connection from: none of those is on
 * it when it is to be used again, and nobody who tries to connect to it meanwhile connects to themselves.
 */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    if (await isFree(port)) return port
  }
  throw new Error('no free port')
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
