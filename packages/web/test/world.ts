// What the stories share: a stage for each test file. Whatever a browser complains about fails the test.
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout } from 'bun:test'
import { AppStage } from './app-stage.ts'
import type { PersonOptions } from './browser-person.ts'

type Settings = Readonly<Record<string, string>>

/** The relay and the app of a test file, and the people of a test. */
export class AppWorld extends AppStage {
  /**
   * @param settings of the relay, or a function that finds them before it starts
   * @param defaults what holds for each person who has no other options
   */
  constructor(settings: Settings | (() => Promise<Settings>) = {}, defaults: PersonOptions = {}) {
    super(defaults)
    // Long enough for a busy machine: slowness alone must not fail a test. Bun forgets it after each file,
    // and runs this module once for many.
    setDefaultTimeout(240_000)
    beforeAll(async () => this.start(typeof settings === 'function' ? await settings() : settings))
    afterEach(async () => {
      expect(await this.part()).toEqual([])
    })
    afterAll(() => this.stop())
  }
}
