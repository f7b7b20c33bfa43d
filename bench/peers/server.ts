// Starts a peer's process: on the server's core, with its own folder, as its package's user, on a loopback
// port.
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cpuMs } from '../measure.ts'
import { hasTwoCores } from '../server-process.ts'

const SERVER_CORE = '0'
const START_MS = 30_000
const STOP_MS = 10_000
// Below 32768, because systems do not use those ports for outgoing connections.
const [FIRST_PORT, LAST_PORT] = [21_000, 31_000]

/** A peer's process. */
export interface PeerProcess {
  readonly pid: number
  readonly port: number
  readonly folder: string
  stop(): Promise<void>
}

/** How to start a peer: the files of its folder, the command and the environment, for a folder and a port. */
export interface PeerLaunch {
  /**
   * The system user that the package creates. The process runs as this user if the benchmark runs as root.
   */
  readonly user: string
  readonly files: (at: { folder: string; port: number }) => Readonly<Record<string, string>>
  readonly command: (at: { folder: string; port: number }) => string[]
  readonly env?: (at: { folder: string; port: number }) => Readonly<Record<string, string>>
}

/** Starts a server and resolves when its port answers. */
export async function startPeer(launch: PeerLaunch): Promise<PeerProcess> {
  const at = { folder: await mkdtemp(join(tmpdir(), 'sotto-peer-')), port: freePort() }
  for (const [name, text] of Object.entries(launch.files(at))) await Bun.write(join(at.folder, name), text)
  const log = join(at.folder, 'server.log')
  await Bun.write(log, '')
  // The kernel kills the server when this process ends, even if this process crashes.
  const asUser = ['setpriv', '--pdeathsig=KILL']
  if (process.getuid?.() === 0) {
    await Bun.$`chown -R ${launch.user} ${at.folder}`.quiet()
    asUser.push(`--reuid=${launch.user}`, `--regid=${launch.user}`, '--clear-groups')
  }
  const onCore = hasTwoCores ? ['taskset', '-c', SERVER_CORE] : []
  const child = Bun.spawn([...onCore, ...asUser, ...launch.command(at)], {
    cwd: at.folder,
    env: { PATH: process.env.PATH ?? '', HOME: at.folder, ...launch.env?.(at) },
    stdin: 'ignore',
    stdout: Bun.file(log),
    stderr: Bun.file(log),
  })
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    await child.exited
    clearTimeout(timer)
    await rm(at.folder, { recursive: true, force: true })
  }
  const deadline = performance.now() + START_MS
  while (!(await answers(at.port))) {
    if (child.exitCode === null && performance.now() < deadline) {
      await Bun.sleep(50)
      continue
    }
    const output = readFileSync(log, 'utf8').slice(-2000)
    await stop()
    throw new Error(`${launch.command(at)[0]} did not start: ${output}`)
  }
  return { pid: child.pid, ...at, stop }
}

/** CPU time of a process and all its descendants, in milliseconds. */
export function treeCpuMs(pid: number): number {
  const childrenOf = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? parentOf(name) : undefined
    if (parent !== undefined) childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), Number(name)])
  }
  const below = (of: number): number =>
    (childrenOf.get(of) ?? []).reduce(
      (sum, child) => sum + (ifRunning(() => cpuMs(child)) ?? 0) + below(child),
      0,
    )
  return cpuMs(pid) + below(pid)
}

function parentOf(pid: string): number | undefined {
  const stat = ifRunning(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  if (stat === undefined) return undefined
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

/** The result of `read`, or undefined if the process ended before it was read. */
function ifRunning<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function freePort(): number {
  for (let tries = 0; tries < 100; tries++) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT))
    try {
      Bun.listen({ hostname: '127.0.0.1', port, socket: { data: () => undefined } }).stop(true)
      return port
    } catch {
      // The port is in use; try another one.
    }
  }
  throw new Error('no free port')
}

async function answers(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data: () => undefined } })
    socket.end()
    return true
  } catch {
    return false
  }
}
