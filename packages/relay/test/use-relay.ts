// Relays for the wire tests: each file or group of tests starts one. It stops after them, and its log must
// have no errors.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test'
import { engines, type TestEngine } from './engines.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'

type Settings = Readonly<Record<string, string>>

/** The relay of a group of tests. */
export interface UsedRelay {
  readonly url: string
  readonly process: RelayProcess
}

/** Starts a relay for the tests of the surrounding describe. */
export function useRelay(env: Settings = {}, options: { descriptors?: number } = {}): UsedRelay {
  return use(() => startRelay({ env, ...options }))
}

/** Runs the same tests on each engine, each with a separate relay. */
export function onEveryEngine(promises: (relay: UsedRelay) => void, env: Settings = {}): void {
  for (const engine of engines) describe(`on ${engine.name}`, () => promises(useRelayOn(engine, env)))
}

/** Starts a relay on this engine for the tests of the surrounding describe. */
export function useRelayOn(engine: TestEngine, env: Settings = {}): UsedRelay {
  return use(async () => startRelay({ env: { ...env, ...(await engine.environment()) } }))
}

/** Starts a relay for the tests of the surrounding describe, with settings that are computed first. */
export function useRelayWith(environment: () => Promise<Settings>): UsedRelay {
  return use(async () => startRelay({ env: await environment() }))
}

function use(start: () => Promise<RelayProcess>): UsedRelay {
  // Long enough for a busy machine: slowness alone must not fail a test. Bun forgets it after each file, and
  // runs this module once for many.
  setDefaultTimeout(240_000)
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

/** Log lines at level error, and lines that are not log lines. */
export function errorLines(log: string): string[] {
  return log.split('\n').filter((line) => line !== '' && !/^\{"level":"(?:debug|info|warn)"/.test(line))
}
