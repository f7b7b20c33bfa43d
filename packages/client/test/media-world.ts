// What tests of media share: noise to send, the blobs of a relay's folder, and a network that can be cut.
import { readdir, stat } from 'node:fs/promises'
import { createServer, connect as dial, type Socket } from 'node:net'
import { join } from 'node:path'

export const MIB = 1024 * 1024

/** Bytes that nothing makes smaller. */
export function noise(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536))
  return bytes
}

/** The files in a relay's folder of media, the largest last. */
export async function filesOf(dataDir: string): Promise<string[]> {
  const entries = await readdir(join(dataDir, 'media'), { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const sized = await Promise.all(files.map(async (path) => ({ path, size: await sizeIfThere(path) })))
  return sized
    .flatMap(({ path, size }) => (size === undefined ? [] : [{ path, size }]))
    .sort((a, b) => a.size - b.size)
    .map(({ path }) => path)
}

// The relay may remove one while they are looked at.
async function sizeIfThere(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** A way to a relay that can be cut. */
export interface CuttableWay {
  readonly url: string
  /** Bytes that went through, in both directions. */
  readonly passed: () => number
  /** Ends every connection in the middle, and refuses new ones until `mend`. */
  cut(): void
  mend(): void
  stop(): Promise<void>
}

/** Begins to pass everything on to a relay. */
export async function startWay(relayUrl: string): Promise<CuttableWay> {
  const { hostname, port } = new URL(relayUrl)
  const open = new Set<Socket>()
  let isCut = false
  let passed = 0
  const server = createServer((near) => {
    if (isCut) return near.destroy()
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
  if (address === null || typeof address === 'string') throw new Error('no port')
  const cut = (): void => {
    isCut = true
    for (const socket of open) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${address.port}`,
    passed: () => passed,
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
