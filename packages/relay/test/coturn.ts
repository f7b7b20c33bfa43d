// A real TURN server for tests: Debian's coturn on the loopback, with the configuration that
// docs/operations/calls.md gives operators.
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findCoturn } from '../../../scripts/find-coturn.mjs'
import { findFreePort } from './free-port.ts'

/** A running TURN server. */
export interface Coturn {
  readonly port: number
  /** Whether these credentials get relay addresses and packets sent through them arrive. */
  carries(credentials: { username: string; credential: string }, over: 'udp' | 'tcp'): Promise<boolean>
  stop(): Promise<void>
}

/** Starts a TURN server with this secret. */
export async function startCoturn(secret: string): Promise<Coturn> {
  const programs = findCoturn()
  if (!programs) throw new Error('no coturn: npm test installs it, or set COTURN_BIN to its folder')
  const folder = await mkdtemp(join(tmpdir(), 'sotto-coturn-'))
  for (let triesLeft = 5; ; triesLeft--) {
    const port = await findFreePort()
    const file = join(folder, 'turnserver.conf')
    await Bun.write(file, await configuration({ folder, port, secret }))
    // The kernel ends the server if this process is killed before it can stop it.
    const server = Bun.spawn(
      ['setpriv', '--pdeathsig', 'KILL', '--', join(programs, 'turnserver'), '-c', file],
      { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
    )
    if (await listens(port, () => server.exitCode !== null)) {
      return {
        port,
        carries: (credentials, over) => carries(join(programs, 'turnutils_uclient'), port, credentials, over),
        stop: async () => {
          server.kill('SIGKILL')
          await server.exited
          await rm(folder, { recursive: true, force: true })
        },
      }
    }
    server.kill('SIGKILL')
    await server.exited
    if (triesLeft === 0) throw new Error(`coturn did not start; its configuration is ${file}`)
  }
}

/** The configuration that docs/operations/calls.md gives operators. */
export async function operatorsConfiguration(): Promise<string> {
  const guide = await Bun.file(join(import.meta.dir, '../../../docs/operations/calls.md')).text()
  const block = /<!-- coturn -->\n```conf\n(?<conf>[\s\S]+?)```\n<!-- \/coturn -->/.exec(guide)?.groups?.conf
  if (!block) throw new Error('docs/operations/calls.md has no configuration for coturn')
  return block
}

/** The operators' configuration, but only on this machine, on free ports, and without a certificate. */
async function configuration(of: { folder: string; port: number; secret: string }): Promise<string> {
  const block = await operatorsConfiguration()
  const replaced: Record<string, string | undefined> = {
    'listening-port': `listening-port=${of.port}`,
    'static-auth-secret': `static-auth-secret=${of.secret}`,
    'tls-listening-port': 'no-tls',
    cert: 'no-dtls',
    pkey: '',
    'min-port': 'min-port=20000',
    'max-port': 'max-port=32767',
  }
  const lines = block.split('\n').map((line) => replaced[line.split('=')[0] ?? ''] ?? line)
  const added = [
    ...['listening-ip=127.0.0.1', 'relay-ip=127.0.0.1', 'allow-loopback-peers'],
    'allowed-peer-ip=127.0.0.1',
    ...[`userdb=${of.folder}/users`, `pidfile=${of.folder}/pid`, 'log-file=stdout', 'simple-log'],
  ]
  return [...lines, ...added, ''].join('\n')
}

// Two of coturn's test clients get a relay address each and send to each other through both.
async function carries(
  program: string,
  port: number,
  { username, credential }: { username: string; credential: string },
  over: 'udp' | 'tcp',
): Promise<boolean> {
  const client = Bun.spawn(
    [
      ...[program, ...(over === 'tcp' ? ['-t'] : []), '-y', '-c', '-n', '2', '-p', String(port)],
      ...['-u', username, '-w', credential, '127.0.0.1'],
    ],
    { stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' },
  )
  const late = setTimeout(() => client.kill('SIGKILL'), 45_000)
  const [output] = await Promise.all([new Response(client.stdout).text(), client.exited])
  clearTimeout(late)
  return client.exitCode === 0 && output.includes('tot_send_msgs=4, tot_recv_msgs=4')
}

async function listens(port: number, hasEnded: () => boolean): Promise<boolean> {
  for (const late = performance.now() + 45_000; performance.now() < late; await Bun.sleep(50)) {
    if (hasEnded()) return false
    if (await canConnect(port)) return true
  }
  return false
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
