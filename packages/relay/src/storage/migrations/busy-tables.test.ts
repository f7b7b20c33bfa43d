// On PostgreSQL, a vacuum of a busy table begins after few changes, however large a backlog it has.
import { expect, test } from 'bun:test'
import { engines } from '../../../test/engines.ts'

test('the tables whose rows come and go are cleaned often', async () => {
  const store = await engines.find(({ name }) => name === 'PostgreSQL')?.open()
  if (!store) throw new Error('no PostgreSQL')
  const rows = await store.storage.sql<{ table: string; options: string }>`
    SELECT relname AS table, array_to_string(reloptions, ' ') AS options FROM pg_class
    WHERE array_to_string(reloptions, ' ') LIKE '%autovacuum_vacuum_scale_factor=0.02%'
      AND array_to_string(reloptions, ' ') LIKE '%autovacuum_vacuum_threshold=5000%' AND relkind = 'r'`
  await store.remove()
  const roomy = rows.filter(({ options }) => options.includes('fillfactor=80')).map(({ table }) => table)
  expect(roomy.sort()).toEqual(['connections', 'conversations', 'lanes', 'mailboxes'])
  const often = rows.map(({ table }) => table).sort()
  const coming = ['messages', 'notices', 'push_queue', 'push_wakes', 'tickets', 'used_challenges']
  expect(often).toEqual([...roomy, ...coming].sort())
})
