// What migrations do to the data of older relays, on both engines.
import { describe, expect, test } from 'bun:test'
import { engines } from '../../../test/engines.ts'
import { applySteps } from '../migrate.ts'
import { cleanNames } from './clean-names.ts'

for (const engine of engines) {
  describe(`a store of an older relay on ${engine.name}`, () => {
    test('gets its names cleaned, and a name of which nothing is left becomes the alias or the channel’s id', async () => {
      const { storage, remove } = await engine.open()
      const nicknames = ['Ada', 'a\u202eb', '\u200b', '👩‍💻 می‌خواهم', ' spaced ']
      const channels = [
        ['News', 'two\nlines'],
        ['Ne\u200bws', 'hid\u2066den'],
        ['\u3164', ''],
      ] as const
      const { dialect } = storage.engine
      await storage.transaction(async (sql) => {
        for (const [index, nickname] of nicknames.entries()) {
          await sql`
            INSERT INTO accounts (uuid, alias_id, nickname, created_at)
            VALUES (${`uuid ${index}`}, ${`alias${index}`}, ${nickname}, 1)`
        }
        await sql`
          INSERT INTO accounts (uuid, alias_id, nickname, created_at, deleted_at)
          VALUES ('deleted', 'deleted', '', 1, 2)`
        for (const [index, [name, description]] of channels.entries()) {
          await sql`
            INSERT INTO channels
              (channel_id, owner_id, name, description, is_public, created_at, subscriber_count)
            SELECT ${`ch_${index}`}, MIN(id), ${name}, ${description}, 1, 1, 0 FROM accounts`
        }
        await applySteps(sql, cleanNames(dialect))
      })
      const cleaned = await storage.sql<{ nickname: string }>`SELECT nickname FROM accounts ORDER BY id`
      expect(cleaned.map(({ nickname }) => nickname)).toEqual([
        ...['Ada', 'ab', 'alias2', '👩‍💻 می‌خواهم', 'spaced'],
        '',
      ])
      expect(
        await storage.sql<{ name: string; description: string }>`
          SELECT name, description FROM channels ORDER BY id`,
      ).toEqual([
        { name: 'News', description: 'two\nlines' },
        { name: 'News', description: 'hidden' },
        { name: 'ch_2', description: '' },
      ])
      await remove()
    })
  })
}
