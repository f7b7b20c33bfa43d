// The servers of the relay's port: one, and a second one after its certificate was replaced. Bun cannot give
// another certificate to a server that runs, so the port gets a new server, and the old one keeps its
// connections until they end.
import type { Server } from 'bun'
import type { CertificatePair } from '../certificates/certificates.ts'
import type { SocketData } from '../gateway/gateway.ts'
import { within } from '../operations/within.ts'
import { openTcpConnections, type TcpConnections } from './tcp-connections.ts'

export type RelayServer = Server<SocketData>

/** How a server of the port is opened. */
export interface ServerOptions {
  readonly port: number
  /** Whether other servers of this process may have the same port. */
  readonly reusePort: boolean
  readonly tls: CertificatePair | undefined
}

/**
 * How long an old server accepts connections, which the system had given to it before the new one was there.
 * Longer than a connection may be silent between two requests (`idleTimeout`).
 */
const HANDOVER_MS = 40_000

export class Servers {
  readonly port: number
  /** The connections of the port, of all its servers. Undefined if the system offers no way to see them. */
  readonly tcp: TcpConnections | undefined
  readonly #open: (options: ServerOptions) => RelayServer
  readonly #sharesPort: boolean
  readonly #handoverMs: number
  /** All that have connections, the newest last. */
  readonly #servers = new Set<RelayServer>()
  #current: RelayServer
  /** The server before the current one, while it accepts connections. */
  #former: { readonly server: RelayServer; readonly timer: ReturnType<typeof setTimeout> } | undefined

  /** @throws if the port is taken */
  constructor(
    open: (options: ServerOptions) => RelayServer,
    {
      port,
      tls,
      plainPort,
      sharesPort = false,
      handoverMs = HANDOVER_MS,
    }: Omit<ServerOptions, 'reusePort'> & {
      plainPort?: number | undefined
      /** Whether other processes of the relay have the same port. */
      sharesPort?: boolean
      handoverMs?: number
    },
  ) {
    this.#open = open
    this.#sharesPort = sharesPort
    this.#handoverMs = handoverMs
    const first = open({ port, reusePort: sharesPort, tls })
    this.port = first.port ?? port
    this.#current = this.#opened(tls && !sharesPort ? this.#shared(first, tls) : first)
    this.tcp = openTcpConnections(this.port, plainPort)
  }

  /** From now on, new connections get this certificate. Those that are open keep theirs, and stay. */
  useCertificate(tls: CertificatePair): void {
    // Not before: at most two servers listen.
    this.#endFormer()
    const server = this.#current
    this.#current = this.#opened(this.#open({ port: this.port, reusePort: true, tls }))
    // Which one is the second of a port that processes share is not known. Without this, some new connections
    // get the former certificate until the former server ends.
    if (!this.#sharesPort) this.tcp?.steerToSecond()
    this.#former = { server, timer: setTimeout(() => this.#endFormer(), this.#handoverMs) }
  }

  /** Whether a request came to a server that only waits for the end of its connections. */
  isOld(server: RelayServer): boolean {
    return server !== this.#current
  }

  /** Sends to all sockets that subscribed to a topic. */
  publish(topic: string, data: string): void {
    for (const server of this.#servers) server.publish(topic, data)
  }

  /** How many sockets subscribed to a topic. */
  subscriberCount(topic: string): number {
    return this.#sum((server) => server.subscriberCount(topic))
  }

  /** Closes all connections that wait for their next request. @returns how many */
  closeIdle(): number {
    return this.#sum((server) => server.closeIdleConnections())
  }

  /** Closes the port after the running requests have ended, at most after `mostMs`. */
  async close(mostMs: number): Promise<void> {
    this.#endFormer()
    const all = [...this.#servers]
    await within(mostMs, Promise.all(all.map((server) => server.stop(false))))
    await Promise.all(all.map((server) => server.stop(true)))
  }

  // Only a port that servers share can get a second one. Another program must not share it, so the port is
  // taken alone first, which fails if anybody has it.
  #shared(alone: RelayServer, tls: CertificatePair): RelayServer {
    void alone.stop(true)
    return this.#open({ port: this.port, reusePort: true, tls })
  }

  #opened(server: RelayServer): RelayServer {
    this.#servers.add(server)
    return server
  }

  #endFormer(): void {
    if (!this.#former) return
    const { server, timer } = this.#former
    this.#former = undefined
    clearTimeout(timer)
    // It ends when its last WebSocket is closed.
    void server.stop(false).then(() => this.#servers.delete(server))
  }

  #sum(of: (server: RelayServer) => number): number {
    return [...this.#servers].reduce((sum, server) => sum + of(server), 0)
  }
}
