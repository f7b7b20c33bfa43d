// A TCP proxy in front of a server that can fail: it delays the server's answers or cuts them off.
import { createServer, connect as dial, type Socket } from 'node:net'

/** A proxy that works until a test makes it fail. */
export interface BadWay {
  readonly url: string
  /** The number of bytes that the server has sent back through the proxy. */
  readonly back: () => number
  /** From now on the server's answers are dropped; requests still reach it. */
  silence(): void
  /**
   * From now on each connection is cut after the server has sent this many bytes back.
   * @param times only so many connections; all by default
   */
  cutAfter(bytes: number, times?: number): void
  /** From now on the server's answers pass in pieces of at most this size, with a pause for each. */
  drip(bytes: number, pauseMs: number): void
  /** Works again as at the start, for new connections. */
  mend(): void
  stop(): Promise<void>
}

interface Connection {
  readonly near: Socket
  readonly far: Socket
  back: number
}

/** Starts a proxy in front of a server. */
export async function startBadWay(target: string): Promise<BadWay> {
  const { hostname, port } = new URL(target)
  const open = new Set<Connection>()
  let back = 0
  let isSilent = false
  let mostBack = Number.POSITIVE_INFINITY
  let cutsLeft = 0
  let drip: { readonly bytes: number; readonly pauseMs: number } | undefined

  const passBack = async (connection: Connection, piece: Buffer): Promise<void> => {
    const { near, far } = connection
    if (isSilent) return
    const step = drip?.bytes ?? piece.length
    far.pause()
    for (let at = 0; at < piece.length && !near.destroyed; at += step) {
      const end = Math.min(at + step, piece.length, at + mostBack - connection.back)
      // The pause depends on the bytes that pass, not on the size of the pieces received.
      if (drip) await Bun.sleep((drip.pauseMs * (end - at)) / step)
      connection.back += end - at
      back += end - at
      const isWritten = near.write(piece.subarray(at, end))
      if (connection.back >= mostBack) {
        cutsLeft -= 1
        if (cutsLeft === 0) mostBack = Number.POSITIVE_INFINITY
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
    const connection: Connection = { near, far, back: 0 }
    open.add(connection)
    near.pipe(far)
    far.on('data', (piece: Buffer) => void passBack(connection, piece))
    far.on('end', () => near.end())
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        open.delete(connection)
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
    cutAfter: (bytes, times = Number.POSITIVE_INFINITY) => {
      mostBack = bytes
      cutsLeft = times
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
