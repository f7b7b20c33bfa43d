// Ports for test servers that use the same port again after they were killed.
import { createServer } from 'node:net'

const [LOWEST, HIGHEST] = [20_000, 32_000]
/**
 * Test processes that run at once (`scripts/test.mjs`). Each has separate ports, so that no process takes a
 * port that another has just found.
 */
const PROCESSES = 3
const worker = Number(process.env.BUN_TEST_WORKER_ID ?? 0)
/** What {@link findFreePort} has given out: a server may take its port only later. */
const given = new Set<number>()

/** A port below 32768 that no other process of the same run uses. Another program may listen on it. */
export function randomPort(): number {
  const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST))
  return port - (port % PROCESSES) + (worker % PROCESSES)
}

/**
 * A port on which no program listens. It is below 32768, where no system takes ports for outgoing
 * connections. So no such connection holds the port when the server wants it again, and no client that
 * connects meanwhile can connect to itself. No port is given out twice.
 */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = randomPort()
    if (given.has(port)) continue
    given.add(port)
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
