// Relays for the wire tests: one for a file or a group of tests, ended with it, and held to a log without errors.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test'
import { engines, type TestEngine } from './engines.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'

// Wide enough for a busy machine: a promise that is kept late is kept.
setDefaultTimeout(90_000)

type Settings = Readonly<Record<string, string>>

/** The relay of a group of tests. */
export interface UsedRelay {
  readonly url: string
  readonly process: RelayProcess
}

/** Has a relay for the tests of the describe it is called in. */
export function useRelay(env: Settings = {}): UsedRelay {
  return use(() => startRelay({ env }))
}

/** The same promises for each engine, each with a relay of its own. */
export function onEveryEngine(promises: (relay: UsedRelay) => void, env: Settings = {}): void {
  for (const engine of engines) describe(`on ${engine.name}`, () => promises(useRelayOn(engine, env)))
}

/** Has a relay on this engine for the tests of the describe it is called in. */
export function useRelayOn(engine: TestEngine, env: Settings = {}): UsedRelay {
  return use(async () => startRelay({ env: { ...env, ...(await engine.environment()) } }))
}

/** Has a relay for the tests of the describe it is called in, with settings that take a while to have. */
export function useRelayWith(environment: () => Promise<Settings>): UsedRelay {
  return use(async () => startRelay({ env: await environment() }))
}

function use(start: () => Promise<RelayProcess>): UsedRelay {
  let running: RelayProcess | undefined
  beforeAll(async () => {
    running = await start()
  }, 240_000)
  afterAll(async () => {
    const errors = running?.errors() ?? ''
    await running?.stop()
    expect(errorLines(errors)).toEqual([])
  }, 240_000)
  const get = (): RelayProcess => {
    if (!running) throw new Error('the relay of these tests has not started')
    return running
  }
  return {
    get url() {
      return get().url
    },
    get process() {
      return get()
    },
  }
}

/** Log lines that tell of a bug or a failing part, and whatever is no log line at all. */
export function errorLines(log: string): string[] {
  return log.split('\n').filter((line) => line !== '' && !/^\{"level":"(?:debug|info|warn)"/.test(line))
}
