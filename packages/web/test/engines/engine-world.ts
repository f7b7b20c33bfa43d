// What the stories in another engine share: a relay that serves the app, and a browser.
import { afterAll, beforeAll } from 'bun:test'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { builtApp } from '../built-app.ts'
import type { Engine } from './tab.ts'

/** A busy machine may take this long for a story. */
export const STORY_MS = 480_000

interface Started {
  readonly relay: RelayProcess
  readonly engine: Engine
}

/** The relay and the browser of a test file. */
export class EngineWorld {
  #started: Started | undefined

  /** @param start starts the browser */
  constructor(start: () => Promise<Engine>) {
    beforeAll(async () => {
      const relay = await startRelay({ env: { APP_DIR: builtApp() } })
      this.#started = { relay, engine: await start() }
    }, STORY_MS)
    afterAll(async () => {
      await this.#started?.engine.stop()
      await this.#started?.relay.stop()
    })
  }

  get relay(): RelayProcess {
    return this.#get().relay
  }

  get engine(): Engine {
    return this.#get().engine
  }

  #get(): Started {
    if (!this.#started) throw new Error('the browser or the relay did not start')
    return this.#started
  }
}
