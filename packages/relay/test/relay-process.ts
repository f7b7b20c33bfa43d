// Starts a real relay as a separate process, so that tests can kill it at any moment and start it again.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from './free-port.ts'

/** A relay process, running or ended. */
export interface RelayProcess {
  /** `http://127.0.0.1:<port>`; the same after every start. */
  readonly url: string
  readonly dataDir: string
  /** Its PostgreSQL; undefined if its store is in `dataDir`. */
  readonly databaseUrl: string | undefined
  /** The id of the current process. */
  readonly pid: number
  /** Its output on standard error since its last start. */
  readonly errors: () => string
  /**
   * Sends a signal and waits for the process to end. @returns its exit code, or null if the signal ended it
   */
  kill(signal: NodeJS.Signals): Promise<number | null>
  /**
   * Starts it again on the same port and data. Its clock runs again, ahead of the machine's by the time that
   * letPass() added.
   */
  start(): Promise<void>
  /** Stops its clock and moves it forward by this time. @returns the time it then shows */
  letPass(ms: number): Promise<number>
  /**
   * Starts what the relay does every minute, such as letting messages expire, and waits for it with
   * `toTheEnd`.
   */
  maintain(options?: { readonly toTheEnd: true }): Promise<void>
  /** The resident memory of the process after it has collected its garbage, in MiB. */
  memoryMiB(): Promise<number>
  /** How many timers of the process are set, or were and are not collected as garbage. */
  timers(): Promise<number>
  /** Stops it permanently and removes its data. */
  stop(): Promise<void>
}

/**
 * Settings that keep tests quick: no rates, little proof of work; and patient with connections that say
 * nothing while a busy machine prepares others. Tests of one of these override it.
 */
export const QUICK = {
  ...{ RATE_LIMITS: 'off', LIMIT_POW_DIFFICULTY: '1', LOG_LEVEL: 'warn', HOST: '127.0.0.1' },
  ...{ LIMIT_UNLISTED_SECONDS: '0', LIMIT_IDLE_SECONDS: '900' },
}

/**
 * @param options.env settings of this relay; they override the quick ones
 * @param options.descriptors how many files and connections its process may have open; the machine's limit if
 *   undefined
 */
export async function startRelay(
  options: { env?: Readonly<Record<string, string>>; descriptors?: number } = {},
): Promise<RelayProcess> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sotto-relay-'))
  const { descriptors } = options
  let running = await launchOnFreePort({ ...QUICK, DATA_DIR: dataDir, ...options.env }, descriptors)
  const port = new URL(running.url).port
  let passedMs = 0

  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    running.process.kill(signal)
    await running.process.exited
    // What it says at its stop is read after its end. One that is killed says nothing.
    if (signal !== 'SIGKILL') await running.collected
    return running.process.exitCode
  }
  return {
    url: running.url,
    dataDir,
    databaseUrl: options.env?.DATABASE_URL,
    get pid() {
      return running.process.pid
    },
    errors: () => running.errors(),
    kill: end,
    letPass: (ms) => {
      passedMs += ms
      return running.ask(ms)
    },
    maintain: async (options) => {
      const passes = await running.ask(options?.toTheEnd ? 'maintain to the end' : 'maintain')
      if (passes === 0) throw new Error('the relay has no maintenance')
    },
    memoryMiB: async () => (await running.ask('memory')) / 1024 / 1024,
    timers: () => running.ask('timers'),
    start: async () => {
      const unchanged = { PORT: port, PASSED_MS: String(passedMs) }
      running = await launch({ ...QUICK, DATA_DIR: dataDir, ...options.env, ...unchanged }, descriptors)
    },
    stop: async () => {
      if (running.process.exitCode === null && running.process.signalCode === null) await end('SIGKILL')
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function launchOnFreePort(env: Readonly<Record<string, string>>, descriptors?: number) {
  for (let triesLeft = 5; ; triesLeft--) {
    try {
      return await launch({ PORT: String(await findFreePort()), ...env }, descriptors)
    } catch (error) {
      // Another process may have taken the port since findFreePort() checked it.
      if (triesLeft === 0 || !String(error).includes('something else listens there')) throw error
    }
  }
}

async function launch(env: Readonly<Record<string, string>>, descriptors?: number) {
  const command = [process.execPath, join(import.meta.dir, 'relay-main.ts')]
  const limited = ['sh', '-c', `ulimit -n ${descriptors} && exec "$0" "$@"`, ...command]
  const child = Bun.spawn(descriptors === undefined ? command : limited, {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    ipc: (answer) => answers.shift()?.(Number(answer)),
  })
  const answers: ((answer: number) => void)[] = []
  const ask = (question: number | string): Promise<number> =>
    new Promise((resolve) => {
      answers.push(resolve)
      child.send(question)
    })
  let errors = ''
  const collected = collect(child.stderr, (text) => {
    errors += text
  })
  const url = await listeningUrl(child.stdout)
  if (!url) {
    await collected
    throw new Error(`the relay did not start: ${errors}`)
  }
  return { process: child, url, ask, errors: () => errors, collected }
}

async function listeningUrl(output: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const reader = output.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return undefined
    text += decoder.decode(value, { stream: true })
    const url = /listens on (?<url>https?:\S+)\n/.exec(text)?.groups?.url
    if (!url) continue
    reader.releaseLock()
    return url
  }
}

async function collect(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  for await (const piece of stream) take(decoder.decode(piece, { stream: true }))
}
