// Starts and stops the measured server: a process with its own core and its own data folder.
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'

/** A running server. */
export interface MeasuredServer {
  readonly pid: number
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  readonly folder: string
  /**
   * Stops the process, calls `work` with its folder, and starts the process again at the same address.
   * @param settings the settings of the new process, if they are others
   */
  between(
    work: (folder: string) => void | Promise<void>,
    settings?: Readonly<Record<string, string>>,
  ): Promise<void>
  stop(): Promise<void>
}

/** The core of the server, and the core of the load. */
const SERVER_CORE = '0'
const LOAD_CORE = '1'

/** Whether server and load can each have a separate core. */
export const hasTwoCores = cpus().length > 1 && Bun.which('taskset') !== null

/** Moves this process, which makes the load, to the load's core. */
export async function takeLoadCore(): Promise<void> {
  if (hasTwoCores) await Bun.$`taskset -a -p -c ${LOAD_CORE} ${process.pid}`.quiet()
}

/** Gives this process, and those that it starts from now on, all cores. */
export async function takeAllCores(): Promise<void> {
  if (hasTwoCores) await Bun.$`taskset -a -p -c 0-${cpus().length - 1} ${process.pid}`.quiet()
}

/**
 * Settings of the relay in every benchmark: no rate limits, any number of connections of the one address that
 * the load comes from, mailboxes large enough for a backlog, and no message that waits for a friend list.
 */
export const BENCH_SETTINGS = {
  PORT: '0',
  LOG_LEVEL: 'warn',
  RATE_LIMITS: 'off',
  LIMIT_ADDRESS_CONNECTIONS: '1000000',
  LIMIT_POW_DIFFICULTY: '1',
  LIMIT_MAILBOX_MESSAGES: '100000000',
  LIMIT_MAILBOX_BYTES: '1099511627776',
  LIMIT_CONVERSATION_PERCENT: '100',
  LIMIT_SENT_IDS_PER_DAY: '100000000',
  LIMIT_UNLISTED_SECONDS: '0',
}

/**
 * Starts a relay with the embedded database.
 * @param checkout the folder of the version to start, by default this one
 * @param descriptors how many files and connections its process may have open, if not as many as this one
 */
export function startMeasuredRelay(
  env: Readonly<Record<string, string>> = {},
  checkout = join(import.meta.dir, '..'),
  descriptors?: number,
): Promise<MeasuredServer> {
  const main = join(checkout, 'packages/relay/test/relay-main.ts')
  const command = [process.execPath, main]
  const limited = ['sh', '-c', `ulimit -n ${descriptors} && exec "$0" "$@"`, ...command]
  return startServer(descriptors === undefined ? command : limited, { ...BENCH_SETTINGS, ...env })
}

/** Starts the floor of `relay` and `abuse`: see floor.ts. */
export function startFloor(): Promise<MeasuredServer> {
  return startServer([process.execPath, join(import.meta.dir, 'floor.ts')], {})
}

/**
 * Starts the floor of `login`, `idle` and `backlog`: see login-floor.ts.
 * @param waiting how many messages each connection is sent
 */
export function startLoginFloor(waiting = 0): Promise<MeasuredServer> {
  const main = join(import.meta.dir, 'login-floor.ts')
  return startServer([process.execPath, main], { WAITING: String(waiting) })
}

/** Starts the floor of `fanout`: see fanout-floor.ts. */
export function startFanoutFloor(): Promise<MeasuredServer> {
  return startServer([process.execPath, join(import.meta.dir, 'fanout-floor.ts')], {})
}

/** Starts the floor of `media`: see media-floor.ts. */
export function startMediaFloor(): Promise<MeasuredServer> {
  return startServer([process.execPath, join(import.meta.dir, 'media-floor.ts')], {})
}

async function startServer(
  command: string[],
  env: Readonly<Record<string, string>>,
): Promise<MeasuredServer> {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-bench-'))
  const launch = async (settings: Readonly<Record<string, string>>) => {
    const child = Bun.spawn(hasTwoCores ? ['taskset', '-c', SERVER_CORE, ...command] : command, {
      env: { PATH: process.env.PATH ?? '', DATA_DIR: folder, ...settings },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
    })
    // Kills the server if the benchmark fails.
    process.once('exit', () => child.kill('SIGKILL'))
    return { child, url: await listeningUrl(child.stdout) }
  }
  const end = async (): Promise<void> => {
    running.child.kill('SIGTERM')
    await running.child.exited
  }
  let running = await launch(env)
  const { url } = running
  return {
    url,
    folder,
    get pid() {
      return running.child.pid
    },
    between: async (work, settings = env) => {
      await end()
      await work(folder)
      running = await launch({ ...settings, PORT: new URL(url).port })
    },
    stop: async () => {
      await end()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function listeningUrl(output: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  // Leaves the stream open after this line: if it were closed, the server's later output would fail.
  for await (const piece of output.values({ preventCancel: true })) {
    text += decoder.decode(piece, { stream: true })
    const url = /listens on (?<url>http:\S+)/.exec(text)?.groups?.url
    if (url) return url
  }
  throw new Error('the server did not start')
}
