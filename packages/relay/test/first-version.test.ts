// A store of the first version of the relay, brought up by this one: nothing is lost, and it becomes the same
// as a new store.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { openStorage } from '../src/storage/open-storage.ts'
import type { Storage } from '../src/storage/storage.ts'
import { engines } from './engines.ts'
import { type FirstStore, layFirstStore } from './first-version/first-store.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { errorLines } from './use-relay.ts'
import { message, type WireAccount } from './wire.ts'

for (const engine of engines) {
  describe(`a store of the first version on ${engine.name}`, () => {
    let store: FirstStore
    let relay: RelayProcess
    beforeAll(async () => {
      store = await layFirstStore(engine.name)
      // Its clock goes on where that of the first version stopped, so that nothing has expired.
      const passed = String(store.madeAt - Date.now())
      relay = await startRelay({ env: { ...store.environment, PASSED_MS: passed } })
    }, 240_000)
    afterAll(async () => {
      const errors = relay.errors()
      await relay.stop()
      const { DATA_DIR: folder } = store.environment
      if (folder) await rm(folder, { recursive: true })
      expect(errorLines(errors)).toEqual([])
    })
    const person = (name: Parameters<FirstStore['person']>[0]): WireAccount => store.person(name, relay.url)

    test('delivers what waits: messages in order, a retraction, and receipts', async () => {
      const [ada, ben] = [person('Ada'), person('Ben')]
      const conv = store.conversation
      // Ada is still logged in.
      const { socket: adas, backlog: marks } = await ada.online()
      expect(marks).toContainEqual(expect.objectContaining({ type: 'delivered', conv_id: conv, seq: 2 }))
      expect(marks).toContainEqual(expect.objectContaining({ type: 'read', conv_id: conv, seq: 1 }))
      await ben.login()
      const { socket: bens, backlog } = await ben.online()
      expect(backlog.filter(({ type }) => type === 'msg')).toEqual(
        ['first', 'second', 'third'].map((text, index) => ({
          ...message(ben.alias, conv, text, text),
          ...{ from: ada.alias, seq: 3 + index, at: expect.any(Number) },
        })),
      )
      expect(backlog.find(({ type }) => type === 'retract')).toMatchObject({
        conv_id: conv,
        id: 'taken-back',
      })
      bens.send({ type: 'delivered', to: ada.alias, conv_id: conv, seq: 5 })
      expect(await adas.next('delivered')).toMatchObject({ conv_id: conv, seq: 5 })
      // The numbers go on, and a message that is sent once more is not a second one.
      adas.send(message(ben.alias, conv, 'fourth', 'fourth'))
      expect(await adas.next('ack')).toMatchObject({ id: 'fourth', seq: 7 })
      adas.send(message(ben.alias, conv, 'first', 'first'))
      expect(await adas.next('ack')).toMatchObject({ id: 'first', seq: 3 })
      expect((await bens.next('msg')).id).toBe('fourth')
      expect(await bens.untilPong()).toEqual([])
      await Promise.all([adas.close(), bens.close()])
    })

    test('has its accounts, friends, requests and blocks', async () => {
      const [ada, cleo, dan, eve] = [person('Ada'), person('Cleo'), person('Dan'), person('Eve')]
      const friends = (await ada.get('/friends')).body
      expect(friends).toEqual([
        expect.objectContaining({ alias_id: person('Ben').alias, nickname: 'Ben', status: 'accepted' }),
        expect.objectContaining({ alias_id: cleo.alias, nickname: 'Cleo', status: 'pending' }),
      ])
      const accepted = await ada.bare('PUT', `/friends/${friends[1].friendship_id}/accept`)
      expect(accepted.status).toBe(200)
      // Hidden characters were allowed in names.
      expect((await ada.get('/blocks')).body).toEqual([
        expect.objectContaining({ alias_id: dan.alias, nickname: 'Dan' }),
      ])
      await dan.login()
      await dan.post('/friends/request', { to_alias_id: ada.alias })
      expect((await ada.get('/friends')).body).toHaveLength(2)
      // Eve deleted her account, so her keys may register again.
      expect((await eve.register('Eve')).status).toBe(201)
    })

    test('has the schema of a new store', async () => {
      await relay.kill('SIGTERM')
      const fresh = await engine.open()
      const brought = await openStorage({
        dataDir: store.environment.DATA_DIR ?? '',
        databaseUrl: store.environment.DATABASE_URL,
        databaseConnections: 2,
      })
      try {
        expect(await schemaOf(brought)).toEqual(await schemaOf(fresh.storage))
      } finally {
        await brought.close()
        await fresh.remove()
      }
    })
  })
}

/** Tables, columns, indexes and rules, as the engine describes them. */
async function schemaOf({ sql, engine }: Storage): Promise<readonly object[]> {
  if (engine.dialect === 'sqlite')
    return await sql<object>`SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name`
  return [
    ...(await sql<object>`
      SELECT table_name, column_name, data_type, collation_name, is_nullable, column_default, is_identity
      FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, column_name`),
    ...(await sql<object>`SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname`),
    ...(await sql<object>`
      SELECT conrelid::regclass::text AS "table", conname, pg_get_constraintdef(oid) AS rule
      FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY conrelid::regclass::text, conname`),
  ]
}
