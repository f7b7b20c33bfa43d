// A way to a server that can go bad: what comes back from it is held up, or cut off in the middle.
import { createServer, connect as dial, type Socket } from 'node:net'

/** A way that is good until it is told otherwise. */
export interface BadWay {
  readonly url: string
  /** Bytes that came back so far. */
  readonly back: () => number
  /** From now on nothing comes back, though everything goes through. */
  silence(): void
  /** From now on each connection is cut after so many bytes came back by it. */
  cutAfter(bytes: number): void
  /** What comes back comes in pieces of at most this, with a pause for each. */
  drip(bytes: number, pauseMs: number): void
  /** As it was in the beginning, for new connections. */
  mend(): void
  stop(): Promise<void>
}

interface Passing {
  readonly near: Socket
  readonly far: Socket
  back: number
}

/** Begins to pass everything on to a server. */
export async function startBadWay(target: string): Promise<BadWay> {
  const { hostname, port } = new URL(target)
  const open = new Set<Passing>()
  let back = 0
  let isSilent = false
  let mostBack = Number.POSITIVE_INFINITY
  let drip: { readonly bytes: number; readonly pauseMs: number } | undefined

  const passBack = async (passing: Passing, piece: Buffer): Promise<void> => {
    const { near, far } = passing
    if (isSilent) return
    const step = drip?.bytes ?? piece.length
    far.pause()
    for (let at = 0; at < piece.length && !near.destroyed; at += step) {
      const end = Math.min(at + step, piece.length, at + mostBack - passing.back)
      // By what goes through, however small the pieces are that it comes in.
      if (drip) await Bun.sleep((drip.pauseMs * (end - at)) / step)
      passing.back += end - at
      back += end - at
      const isWritten = near.write(piece.subarray(at, end))
      if (passing.back >= mostBack) {
        near.destroySoon()
        far.destroy()
        return
      }
      if (!isWritten) await new Promise((resolve) => near.once('drain', resolve).once('close', resolve))
    }
    far.resume()
  }

  const server = createServer((near) => {
    const far = dial(Number(port), hostname)
    const passing: Passing = { near, far, back: 0 }
    open.add(passing)
    near.pipe(far)
    far.on('data', (piece: Buffer) => void passBack(passing, piece))
    far.on('end', () => near.end())
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        open.delete(passing)
        if (!isSilent || socket === near) other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    back: () => back,
    silence: () => {
      isSilent = true
    },
    cutAfter: (bytes) => {
      mostBack = bytes
    },
    drip: (bytes, pauseMs) => {
      drip = { bytes, pauseMs }
    },
    mend: () => {
      isSilent = false
      mostBack = Number.POSITIVE_INFINITY
      drip = undefined
    },
    stop: async () => {
      for (const { near, far } of open) {
        near.destroy()
        far.destroy()
      }
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
