// Notices on every engine: each is kept until it has certainly arrived itself.
import { expect, test } from 'bun:test'
import { engines } from '../../test/engines.ts'
import { openMailboxWorld } from '../../test/mailbox-world.ts'
import { addNotice } from './notices.ts'

for (const engine of engines) {
  test(`on ${engine.name} a notice is kept although one with a higher id has arrived`, async () => {
    const { store, alice, reader } = await openMailboxWorld(engine)
    try {
      // Another node may commit the lower id later, and its ring may get lost.
      const ids = await store.storage.transaction(async (sql) => {
        const add = (frame: string): Promise<number> => addNotice(sql, alice.id, frame, { now: 1 })
        return [await add('first'), await add('second'), await add('third')]
      })
      const [first = 0, second = 0, third = 0] = ids
      const confirm = (...noticeIds: readonly number[]): Promise<void> =>
        reader.confirm(
          alice.id,
          { noticeIds: new Set(noticeIds), retractionPosition: 0, receipts: new Map() },
          undefined,
        )
      const kept = async (): Promise<string[]> =>
        (await reader.readNotices(alice.id, 0, 10)).map(({ frame }) => frame)
      await confirm(first, third)
      expect(await kept()).toEqual(['second'])
      await confirm(second)
      expect(await kept()).toEqual([])
    } finally {
      await store.remove()
    }
  })
}
