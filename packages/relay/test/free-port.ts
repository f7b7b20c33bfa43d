// Ports for servers of tests that take one and the same again after they were killed.
import { createServer } from 'node:net'

const [LOWEST, HIGHEST] = [20_000, 32_000]
/** Processes of tests that run at once (`scripts/test.mjs`); each has ports of its own, or one took what the other has just found. */
const PROCESSES = 2
const worker = Number(process.env.BUN_TEST_WORKER_ID ?? 0)

/** A port below 32768 that another process of the same run does not take. Somebody may listen on it. */
export function randomPort(): number {
  const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST))
  return port - (port % PROCESSES) + (worker % PROCESSES)
}

/**
 * A port nobody listens on. Below 32768, where no system takes the port of an outgoing connection from: none of those is on
 * it when it is to be used again, and nobody who tries to connect to it meanwhile connects to themselves.
 */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = randomPort()
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
