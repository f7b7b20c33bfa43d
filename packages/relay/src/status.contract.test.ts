// What a question for the figures costs: the rows are counted again only when the last count is old enough
// for what it took.
import { afterEach, describe, expect, test } from 'bun:test'
import { engines, type TestStore } from '../test/engines.ts'
import { openMailboxWorld } from '../test/mailbox-world.ts'
import { addAccount } from './accounts/accounts.ts'
import { systemRandom } from './operations/random.ts'
import { statusCommands } from './status.ts'

for (const engine of engines)
  describe(`on ${engine.name}`, () => {
    let store: TestStore | undefined
    afterEach(() => store?.remove())

    /** The accounts that are counted, when the clock has gone on by `costMs` at each look at it. */
    async function asked(costMs: number) {
      const world = await openMailboxWorld(engine)
      store = world.store
      const { storage } = store
      let elapsed = 0
      const clock = {
        now: () => 0,
        monotonic: () => {
          elapsed += costMs
          return elapsed
        },
      }
      const folders = { database: undefined, media: '/tmp' }
      const { status } = statusCommands({ storage, clock, folders, running: undefined })
      const count = async (): Promise<unknown> => Reflect.get(Object(await status({})), 'accounts')
      const before = Number(await count())
      await storage.transaction((sql) =>
        addAccount(
          sql,
          { ed25519PublicKey: 'a', x25519PublicKey: 'b', nickname: 'n' },
          { clock, randomBytes: systemRandom },
        ),
      )
      return {
        before,
        count,
        pass: (ms: number) => {
          elapsed += ms
        },
      }
    }

    test('a count that took long is kept for ten times as long', async () => {
      const { before, count, pass } = await asked(100)
      pass(700)
      expect(await count()).toBe(before)
      pass(200)
      expect(await count()).toBe(before + 1)
    })

    test('but for a minute at most, and one that took no time is not kept', async () => {
      const slow = await asked(60_000)
      expect(await slow.count()).toBe(slow.before + 1)
      await store?.remove()
      const quick = await asked(0)
      expect(await quick.count()).toBe(quick.before + 1)
    })
  })
