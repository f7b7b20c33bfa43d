// What migrations do to the data of older relays, on both engines.
import { describe, expect, test } from 'bun:test'
import { engines } from '../../../test/engines.ts'
import { applySteps } from '../migrate.ts'
import { cleanNames } from './clean-names.ts'
import { orderDestinations } from './order-destinations.ts'

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

    test('gets a place to pay for each order, the decimals of its payments, and their names with the token', async () => {
      const { storage, remove } = await engine.open()
      const { dialect } = storage.engine
      await storage.transaction(async (sql) => {
        await sql`DROP TABLE order_destinations`
        await sql`DROP INDEX orders_watched`
        await sql`CREATE INDEX orders_watched ON orders (provider, expires_at) WHERE status <> 'pending'`
        await sql`CREATE INDEX orders_by_address ON orders (pay_to)`
        await sql`ALTER TABLE payments DROP COLUMN decimals`
        const orders = [
          ['evm', 'evm:1/0xab', '0x1', '120000000'],
          ['manual', 'manual', '', ''],
        ] as const
        for (const [provider, asset, payTo, amount] of orders)
          await sql`
            INSERT INTO orders (order_id, kind, ref_id, title, price, provider, deposit_index, pay_to, asset, amount,
              page_token, status, created_at, expires_at)
            VALUES (${provider}, 'quota', 'channel_quota', '', 120, ${provider}, 0, ${payTo}, ${asset}, ${amount},
              ${provider}, 'pending', 0, 0)`
        for (const [reference, asset] of [
          ['evm:1/0xf1/0', 'evm:1/0xab'],
          ['evm:1/0xf1/0xcd/7', 'evm:1/0xcd'],
          ['evm:1/0xf2/native', 'evm:1/native'],
          ['tron:mainnet/f3/0', 'tron:mainnet/T'],
        ] as const)
          await sql`
            INSERT INTO payments (reference, scope, order_number, asset, amount, at, state, created_at)
            SELECT ${reference}, 'x', id, ${asset}, '1', 0, 'final', 0 FROM orders WHERE provider = 'evm'`
        await applySteps(sql, orderDestinations(dialect))
      })
      expect(
        await storage.sql<object>`SELECT asset, provider, pay_to, decimals, amount, hosted_page FROM order_destinations`,
      ).toEqual([
        {
          ...{ asset: 'evm:1/0xab', provider: 'evm', pay_to: '0x1' },
          decimals: 6,
          amount: '120000000',
          hosted_page: null,
        },
      ])
      expect(await storage.sql<object>`SELECT reference, decimals FROM payments ORDER BY id`).toEqual([
        { reference: 'evm:1/0xf1/0xab/0', decimals: 6 },
        { reference: 'evm:1/0xf1/0xcd/7', decimals: null },
        { reference: 'evm:1/0xf2/native', decimals: null },
        { reference: 'tron:mainnet/f3/0', decimals: null },
      ])
      await remove()
    })
  })
}
