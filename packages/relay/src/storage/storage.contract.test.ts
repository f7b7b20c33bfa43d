// The store's promises to features: one suite that runs on a SQLite file and on a real PostgreSQL.
import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { engines, type TestStore } from '../../test/engines.ts'
import { isUpToDate, StorageTooNew } from './migrate.ts'
import { migrations, schema } from './migrations.ts'
import { openSqlite, StorageInUse } from './sqlite.ts'
import { isUniqueViolation, type Storage } from './storage.ts'

for (const engine of engines) {
  describe(`storage on ${engine.name}`, () => {
    let store: TestStore | undefined
    afterEach(async () => {
      await store?.remove()
      store = undefined
    })
    const open = async () => {
      store = await engine.open()
      // Without what the migrations wrote, so that the rows are those of the test.
      await store.storage.transaction((sql) => sql`DELETE FROM relay_state`)
      return store.storage
    }
    const reopen = (): Promise<Storage> => {
      if (!store) throw new Error('no store was opened')
      return store.reopen()
    }

    test('rows that a transaction wrote can be read after it', async () => {
      const storage = await open()
      await storage.transaction((sql) => sql`INSERT INTO relay_state (name, value) VALUES ('a', '1')`)
      expect(await storage.sql<{ value: string }>`SELECT value FROM relay_state WHERE name = 'a'`).toEqual([
        { value: '1' },
      ])
    })

    test('a transaction that throws leaves nothing, and the next one works', async () => {
      const storage = await open()
      const failing = storage.transaction(async (sql) => {
        await sql`INSERT INTO relay_state (name, value) VALUES ('a', '1')`
        throw new Error('changed my mind')
      })
      expect(String(await failureOf(failing))).toContain('changed my mind')
      await storage.transaction((sql) => sql`INSERT INTO relay_state (name, value) VALUES ('b', '2')`)
      expect(await storage.sql<{ name: string }>`SELECT name FROM relay_state`).toEqual([{ name: 'b' }])
    })

    test('readers do not see a transaction before it is committed', async () => {
      const storage = await open()
      await storage.transaction(async (sql) => {
        await sql`INSERT INTO relay_state (name, value) VALUES ('a', '1')`
        expect(await storage.sql`SELECT name FROM relay_state`).toEqual([])
      })
    })

    test('transactions that start at the same time do not mix', async () => {
      const storage = await open()
      await storage.transaction((sql) => sql`INSERT INTO relay_state (name, value) VALUES ('count', '0')`)
      const increment = () =>
        storage.transaction(async (sql) => {
          // The update comes first, because it makes the other transactions wait until this one ends.
          await sql`UPDATE relay_state SET value = value WHERE name = 'count'`
          const [row] = await sql<{ value: string }>`SELECT value FROM relay_state WHERE name = 'count'`
          await sql`UPDATE relay_state SET value = ${String(Number(row?.value) + 1)} WHERE name = 'count'`
        })
      await Promise.all(Array.from({ length: 20 }, increment))
      expect(await storage.sql<{ value: string }>`SELECT value FROM relay_state`).toEqual([{ value: '20' }])
    })

    test('if one of several concurrent transactions fails, the others still commit', async () => {
      const storage = await open()
      const insert = (name: string, fails: boolean) =>
        storage.transaction(async (sql) => {
          await sql`INSERT INTO relay_state (name, value) VALUES (${name}, '1')`
          if (fails) throw new Error(name)
          return name
        })
      const results = await Promise.allSettled(
        ['a', 'b', 'c', 'd'].map((name) => insert(name, name === 'b' || name === 'd')),
      )
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected'])
      const kept = await storage.sql<{ name: string }>`SELECT name FROM relay_state ORDER BY name`
      expect(kept.map(({ name }) => name)).toEqual(['a', 'c'])
    })

    test('integers of 53 bits are read as numbers, digits in text as text, bytes as bytes', async () => {
      const storage = await open()
      const secret = new Uint8Array([0, 255, 10])
      await storage.transaction(
        (sql) => sql`
          INSERT INTO relay_keys (kid, purpose, secret, created_at)
          VALUES ('12345', 'token', ${secret}, ${Number.MAX_SAFE_INTEGER})`,
      )
      const [row] = await storage.sql<{ kid: string; secret: Uint8Array; created_at: number; count: number }>`
        SELECT kid, secret, created_at, (SELECT COUNT(*) FROM relay_keys) AS count FROM relay_keys`
      expect(row?.kid).toBe('12345')
      expect(row?.created_at).toBe(Number.MAX_SAFE_INTEGER)
      expect(row?.count).toBe(1)
      expect(new Uint8Array(row?.secret ?? [])).toEqual(secret)
    })

    test('text of any script is stored unchanged', async () => {
      const storage = await open()
      const text = `naïve 日本語 🔐 'quotes' "double" $1 ? -- ; \\`
      await storage.transaction((sql) => sql`INSERT INTO relay_state (name, value) VALUES ('t', ${text})`)
      expect(
        await storage.sql<{ value: string }>`SELECT value FROM relay_state WHERE value = ${text}`,
      ).toEqual([{ value: text }])
    })

    test('a violated unique rule is distinguished from other failures', async () => {
      const storage = await open()
      const insert = () =>
        storage.transaction((sql) => sql`INSERT INTO relay_state (name, value) VALUES ('a', '1')`)
      await insert()
      const broken = await insert().catch((error: unknown) => error)
      expect(isUniqueViolation(broken)).toBe(true)
      const missing = await storage.sql`SELECT * FROM no_such_table`.catch((error: unknown) => error)
      expect(isUniqueViolation(missing)).toBe(false)
      expect(missing).toBeInstanceOf(Error)
    })

    test('data is kept when the store is opened again, and no migration runs twice', async () => {
      const storage = await open()
      await storage.transaction((sql) => sql`INSERT INTO relay_state (name, value) VALUES ('a', '1')`)
      await storage.close()
      const again = await reopen()
      expect(await again.sql<{ value: string }>`SELECT value FROM relay_state`).toEqual([{ value: '1' }])
      const versions = await again.sql<{
        version: number
      }>`SELECT version FROM schema_migrations ORDER BY version`
      expect(versions.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1))
      await again.close()
    })

    test('a store that a newer relay has changed is refused, unless that relay says that this one can use it', async () => {
      const storage = await open()
      await storage.transaction(async (sql) => {
        await sql`INSERT INTO schema_migrations (version) VALUES (${schema + 1})`
        await sql`INSERT INTO relay_state (name, value) VALUES ('oldest_schema', ${String(schema)})`
      })
      await storage.close()
      const usable = await reopen()
      expect(await isUpToDate(usable)).toBe(true)
      await usable.transaction(
        (sql) => sql`UPDATE relay_state SET value = ${String(schema + 1)} WHERE name = 'oldest_schema'`,
      )
      expect(await isUpToDate(usable)).toBe(false)
      await usable.close()
      const refusal = await reopen().catch((error: unknown) => error)
      expect(refusal).toBeInstanceOf(StorageTooNew)
      expect(String(refusal)).toContain(
        `a newer relay has changed the store: it is at schema ${schema + 1}, and this relay knows ${schema}; start the newer one`,
      )
    })

    test('work requested before closing is still carried out', async () => {
      const storage = await open()
      const requested = Array.from({ length: 200 }, (_, index) =>
        storage.transaction((sql) => sql`INSERT INTO relay_state (name, value) VALUES (${`n${index}`}, '1')`),
      )
      await storage.close()
      const results = await Promise.allSettled(requested)
      expect(results.filter(({ status }) => status === 'rejected')).toEqual([])
    })

    test('closing waits for long transactions', async () => {
      const storage = await open()
      const slow = storage.transaction(async (sql) => {
        await sql`INSERT INTO relay_state (name, value) VALUES ('a', '1')`
        await Bun.sleep(6000)
        await sql`INSERT INTO relay_state (name, value) VALUES ('b', '2')`
      })
      const [ended] = await Promise.allSettled([slow, storage.close()])
      expect(ended).toMatchObject({ status: 'fulfilled' })
    })

    test('ping resolves while the store is open, and rejects after it has closed', async () => {
      const storage = await open()
      await storage.ping()
      await storage.close()
      expect(await storage.ping().catch((error: unknown) => error)).toBeInstanceOf(Error)
    })
  })
}

test('a folder that another relay uses is refused, and can be opened after that relay has closed it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-store-'))
  const first = await openSqlite(folder)
  expect(await openSqlite(folder).catch((error: unknown) => error)).toBeInstanceOf(StorageInUse)
  await first.close()
  const second = await openSqlite(folder)
  await second.close()
  await rm(folder, { recursive: true, force: true })
})
