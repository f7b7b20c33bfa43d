// A port that speaks no TLS and passes every connection on to one that does, with the certificate checked. So
// clients that know no authority of the tests talk to a relay that speaks TLS.
import { createServer, type Socket } from 'node:net'
import { connect } from 'node:tls'

/** An open door. */
export interface PlainDoor {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  /** Errors of the connections behind it: refused certificates, and connections that were cut. */
  readonly failures: string[]
  close(): void
}

/** How the door reaches the port behind it. */
export interface Behind {
  readonly port: number
  /** The name that the certificate must have. */
  readonly host: string
  /** The authorities to trust, PEM, asked at each connection. */
  readonly authorities: () => string[]
}

/** Opens a door to a port on 127.0.0.1. */
export function openPlainDoor({ port, host, authorities }: Behind): Promise<PlainDoor> {
  const open = new Set<Socket>()
  const failures: string[] = []
  const server = createServer((near) => {
    const far = connect({ port, host: '127.0.0.1', servername: host, ca: authorities() })
    const ends = [near, far]
    for (const end of ends) {
      open.add(end)
      end.on('close', () => {
        open.delete(end)
        for (const other of ends) other.destroy()
      })
    }
    near.on('error', () => undefined) // The client under test notices by itself.
    far.on('error', (error) => failures.push(error.message))
    near.pipe(far)
    far.pipe(near)
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      if (address === null || typeof address === 'string') throw new Error('the door has no port')
      resolve({
        url: `http://127.0.0.1:${address.port}`,
        failures,
        close: () => {
          server.close()
          for (const end of open) end.destroy()
        },
      })
    })
  })
}
