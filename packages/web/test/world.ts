// What the stories share: a stage for each test file. Whatever a browser complains about fails the test.
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout } from 'bun:test'
import { AppStage } from './app-stage.ts'

// Long enough for a busy machine: slowness alone must not fail a test.
setDefaultTimeout(120_000)

type Settings = Readonly<Record<string, string>>

/** The relay and the app of a test file, and the people of a test. */
export class AppWorld extends AppStage {
  /** @param settings of the relay, or a function that finds them before it starts */
  constructor(settings: Settings | (() => Promise<Settings>) = {}) {
    super()
    beforeAll(async () => this.start(typeof settings === 'function' ? await settings() : settings))
    afterEach(async () => {
      expect(await this.part()).toEqual([])
    })
    afterAll(() => this.stop())
  }
}
