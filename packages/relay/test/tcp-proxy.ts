// A TCP proxy in front of a server, which passes bytes until a test makes the network fail.
import { createServer, connect as dial, type Server, type Socket } from 'node:net'
import { findFreePort } from './free-port.ts'

/** A network between clients and a server. */
export interface TcpProxy {
  /** The port on the loopback that clients connect to. */
  readonly port: number
  /** Passes everything again. What was held goes on. */
  pass(): Promise<void>
  /**
   * Holds every byte in both directions, and the end of connections, as if packets got lost: nobody learns of
   * it. New connections are accepted and get no answer.
   */
  stall(): void
  /** Resets every open connection. New ones pass. */
  drop(): void
  /** Resets every open connection and refuses new ones, until {@link pass}. */
  refuse(): Promise<void>
  /** From now on each byte takes this long in each direction; 0 ends it. */
  delay(ms: number): void
  /** New connections go to this port, as when an address moves to another server. */
  leadTo(port: number): void
  stop(): Promise<void>
}

/** Starts a proxy in front of a port of the loopback. */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  let to = target
  let delayMs = 0
  let held = Promise.resolve()
  let letGo: (() => void) | undefined
  const open = new Set<Socket>()
  /** Those of the open ones that are read. */
  const read = new Set<Socket>()
  let server: Server | undefined

  const pump = (from: Socket, into: Socket): void => {
    let before: Promise<void> = Promise.resolve()
    // In order, whatever the timers do. What is on the way when the network stalls waits, too.
    const later = (work: () => void): void => {
      const due = delayMs > 0 ? Bun.sleep(delayMs) : undefined
      before = Promise.all([before, due])
        .then(() => held)
        .then(work)
    }
    read.add(from)
    from.on('data', (piece: Buffer) =>
      later(() => {
        // Reads no faster than the other side takes it, so that the sender sees a full network.
        if (!into.destroyed && !into.write(piece)) from.pause()
      }),
    )
    into.on('drain', () => {
      if (!letGo) from.resume()
    })
    from.on('close', (failed: boolean) => {
      read.delete(from)
      later(() => {
        if (failed) into.resetAndDestroy()
        else into.destroySoon()
      })
    })
  }
  const follow = (socket: Socket): Socket => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    return socket.on('error', () => undefined) // A reset closes it, too.
  }
  const accept = (near: Socket): void => {
    follow(near)
    void held.then(() => {
      if (near.destroyed) return
      const far = follow(dial({ host: '127.0.0.1', port: to, noDelay: true }))
      pump(near, far)
      pump(far, near)
      if (letGo) for (const socket of [near, far]) socket.pause()
    })
  }
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server = createServer({ noDelay: true }, accept)
      server.once('error', reject)
      server.listen(port, '127.0.0.1', resolve)
    })
  const drop = (): void => {
    for (const socket of open) socket.resetAndDestroy()
  }
  const close = async (): Promise<void> => {
    const closing = server
    server = undefined
    drop()
    await new Promise<void>((resolve) => (closing ? closing.close(() => resolve()) : resolve()))
  }
  const letPass = (): void => {
    letGo?.()
    letGo = undefined
    for (const socket of read) socket.resume()
  }

  const port = await findFreePort()
  await listen(port)
  return {
    port,
    pass: async () => {
      letPass()
      if (!server) await listen(port)
    },
    stall: () => {
      if (letGo) return
      held = new Promise((resolve) => {
        letGo = resolve
      })
      for (const socket of read) socket.pause()
    },
    drop,
    refuse: close,
    delay: (ms) => {
      delayMs = ms
    },
    leadTo: (other) => {
      to = other
    },
    stop: async () => {
      await close()
      letPass()
    },
  }
}
