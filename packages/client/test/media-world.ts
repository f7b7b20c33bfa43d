// Helpers for tests of media: random bytes to send, the files of a relay, and a network that the test can
// cut.
import { readdir, stat } from 'node:fs/promises'
import { createServer, connect as dial, type Socket } from 'node:net'
import { join } from 'node:path'
import { ClientError } from '../src/client.ts'

export const MIB = 1024 * 1024

/** The code of the client's error, or the relay's code if the relay refused; `done` if the work succeeds. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'done'
  } catch (error) {
    if (!(error instanceof ClientError)) throw error
    return error.refusal ?? error.code
  }
}

/** Random bytes, which cannot be compressed. */
export function noise(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536))
  return bytes
}

/** The files in the relay's media folder, the largest last. */
export async function filesOf(dataDir: string): Promise<string[]> {
  const entries = await readdir(join(dataDir, 'media'), { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const sized = await Promise.all(files.map(async (path) => ({ path, size: await sizeIfPresent(path) })))
  return sized
    .flatMap(({ path, size }) => (size === undefined ? [] : [{ path, size }]))
    .sort((a, b) => a.size - b.size)
    .map(({ path }) => path)
}

// The relay may remove a file while this reads the folder.
async function sizeIfPresent(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** A network path to a relay that the test can cut. */
export interface CuttablePath {
  readonly url: string
  /** The number of bytes forwarded until now, in both directions. */
  readonly passed: () => number
  /** The number of connections refused until now. */
  readonly refused: () => number
  /** Closes every connection, and refuses new ones until `mend` is called. */
  cut(): void
  mend(): void
  stop(): Promise<void>
}

/** Starts a server that forwards connections to the relay. */
export async function startCuttablePath(relayUrl: string): Promise<CuttablePath> {
  const { hostname, port } = new URL(relayUrl)
  const open = new Set<Socket>()
  let isCut = false
  let passed = 0
  let refused = 0
  const server = createServer((near) => {
    if (isCut) {
      refused += 1
      return near.destroy()
    }
    const far = dial(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from)
      from.on('data', (bytes) => {
        passed += bytes.length
      })
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        open.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const cut = (): void => {
    isCut = true
    for (const socket of open) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${address.port}`,
    passed: () => passed,
    refused: () => refused,
    cut,
    mend: () => {
      isCut = false
    },
    stop: async () => {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
