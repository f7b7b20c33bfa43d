// What the stories share: a stage for each test file. Whatever a browser complains about fails the test.
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout } from 'bun:test'
import { AppStage } from './app-stage.ts'

// Long enough for a busy machine: slowness alone must not fail a test.
setDefaultTimeout(120_000)

/** The relay and the app of a test file, and the people of a test. */
export class AppWorld extends AppStage {
  /** @param env settings of the relay */
  constructor(env: Readonly<Record<string, string>> = {}) {
    super()
    beforeAll(() => this.start(env))
    afterEach(async () => {
      expect(await this.part()).toEqual([])
    })
    afterAll(() => this.stop())
  }
}
