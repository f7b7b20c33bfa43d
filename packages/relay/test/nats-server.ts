// A real NATS server for tests: Debian's nats-server on the loopback.
import { connect } from 'node:net'
import { findNats } from '../../../scripts/find-nats.mjs'
import { findFreePort } from './free-port.ts'

/** A NATS server of one test, which the test may kill. */
export interface NatsServer {
  readonly port: number
  /** `nats://127.0.0.1:<port>`; the same after every start. */
  readonly url: string
  /** Ends it without a word to its clients. */
  kill(): Promise<void>
  /** Starts it again on the same port. */
  start(): Promise<void>
  /** Lets it stand still, with its connections open, or go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
}

/** Starts a server. @param words further words of its command line */
export async function startNats(...words: readonly string[]): Promise<NatsServer> {
  const found = findNats()
  if (!found) throw new Error('no nats-server: npm test installs it, or set NATS_BIN to its folder')
  const program = found
  const port = await findFreePort()
  let running = await launch()

  async function launch() {
    const command = [program, '--addr', '127.0.0.1', '--port', String(port), ...words]
    // The kernel ends the server if this process is killed before it can stop it.
    const server = Bun.spawn(['setpriv', '--pdeathsig', 'KILL', '--', ...command], {
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'ignore',
    })
    while (!(await greets(port))) {
      if (server.exitCode !== null) throw new Error(`nats-server did not start on port ${port}`)
      await Bun.sleep(20)
    }
    return server
  }
  return {
    port,
    url: `nats://127.0.0.1:${port}`,
    kill: async () => {
      running.kill('SIGKILL')
      await running.exited
    },
    start: async () => {
      running = await launch()
    },
    signal: (signal) => running.kill(signal),
  }
}

/** Whether a server says there what it is, as NATS does first. */
function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('data', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('close', () => resolve(false))
    socket.once('data', () => socket.destroy())
  })
}
