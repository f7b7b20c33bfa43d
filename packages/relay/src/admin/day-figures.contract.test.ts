// The figures of the last day on every engine: what a minute counts, what a restart keeps, and what is
// removed.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { engines, type TestStore } from '../../test/engines.ts'
import { clockAt } from '../../test/mailbox-world.ts'
import { createLog } from '../operations/log.ts'
import { RelayMetrics } from '../operations/relay-metrics.ts'
import type { Storage } from '../storage/storage.ts'
import { DayFigures } from './day-figures.ts'

const START = Date.UTC(2026, 0, 5, 12)
const MINUTE = 60_000

for (const engine of engines)
  describe(`on ${engine.name}`, () => {
    let store: TestStore
    const clock = clockAt(START)
    let connections = 0
    beforeEach(async () => {
      store = await engine.open()
      clock.jump(START - clock.now())
    })
    afterEach(() => store.remove())

    function openOn(storage: Storage) {
      const metrics = new RelayMetrics({ log: createLog('silent'), clock })
      const parts = { storage, clock, metrics, connections: () => connections, mediaBytes: async () => 77 }
      return { metrics, figures: new DayFigures(parts) }
    }

    test('nodes that share a store add what they count, once, and do not remove what the others wrote', async () => {
      const [here, there] = [openOn(store.storage), openOn(store.storage)]
      here.metrics.framesReceived.count('msg', '', 3)
      there.metrics.framesReceived.count('msg', '', 4)
      here.metrics.ackSeconds.observe(0.002)
      there.metrics.ackSeconds.observe(0.2)
      connections = 5
      await there.figures.write()
      connections = 2
      await here.figures.write()
      connections = 3
      await here.figures.write()
      const [minute] = await here.figures.list()
      expect(minute).toMatchObject({ connections: engine.name === 'SQLite' ? 3 : 8, messages: 7 })
      expect(minute?.ack_ms).toBeGreaterThan(100)
      clock.advance(MINUTE)
      await there.figures.write()
      clock.jump(-MINUTE) // The clock of the other node is behind.
      await here.figures.write()
      clock.advance(MINUTE)
      expect(await here.figures.list()).toHaveLength(2)
    })

    test('each minute has what was counted in it, and what there was at its end', async () => {
      const { metrics, figures } = openOn(store.storage)
      metrics.framesReceived.count('msg', '', 3)
      metrics.framesReceived.count('ping')
      metrics.requests.count('register', '2xx')
      metrics.requests.count('register', '4xx')
      metrics.errors.count('RATE_LIMITED', '', 2)
      metrics.errors.count('NOT_FOUND')
      metrics.logLines.count('error')
      metrics.logLines.count('warn')
      for (let i = 0; i < 100; i++) metrics.ackSeconds.observe(0.002)
      connections = 5
      await figures.write()
      clock.advance(MINUTE)
      connections = 2
      metrics.framesReceived.count('msg')
      await figures.write()
      const bytes = { database_bytes: expect.any(Number), media_bytes: 77 }
      expect(await figures.list()).toEqual([
        {
          at: isoOf(START),
          connections: 5,
          messages: 3,
          registrations: 1,
          ack_ms: 2.425,
          errors: 1,
          refusals: 3,
          ...bytes,
        },
        {
          ...{
            at: isoOf(START + MINUTE),
            connections: 2,
            messages: 1,
            registrations: 0,
            ack_ms: null,
            errors: 0,
          },
          ...{ refusals: 0, ...bytes },
        },
      ])
      expect((await figures.list())[0]?.database_bytes).toBeGreaterThan(0)
    })

    test('a minute that is written again, also by another process, has the counts of both', async () => {
      const before = openOn(store.storage)
      before.metrics.framesReceived.count('msg', '', 3)
      await before.figures.write()
      before.metrics.framesReceived.count('msg')
      await before.figures.write()
      await store.storage.close()
      const storage = await store.reopen()
      const after = openOn(storage)
      after.metrics.framesReceived.count('msg', '', 10)
      connections = 9
      await after.figures.write()
      expect(await after.figures.list()).toMatchObject([
        { at: isoOf(START), messages: 14, connections: engine.name === 'SQLite' ? 9 : 11 },
      ])
      await storage.close()
    })

    test('what could not be written is written the next time', async () => {
      const { metrics, figures } = openOn(store.storage)
      await store.storage.transaction((sql) => sql`ALTER TABLE day_figures RENAME TO elsewhere`)
      metrics.framesReceived.count('msg', '', 3)
      expect(await figures.write().catch(() => 'failed')).toBe('failed')
      await store.storage.transaction((sql) => sql`ALTER TABLE elsewhere RENAME TO day_figures`)
      await figures.write()
      expect(await figures.list()).toMatchObject([{ messages: 3 }])
    })

    test('there are never more rows than a day has minutes, also if the clock jumps', async () => {
      const { figures } = openOn(store.storage)
      const rows = async () => (await store.storage.sql`SELECT minute FROM day_figures`).length
      for (let minute = 0; minute < 3; minute++) {
        await figures.write()
        clock.advance(MINUTE)
      }
      clock.advance(1438 * MINUTE)
      await figures.write()
      // The first two are older than a day.
      expect((await figures.list()).map(({ at }) => at)).toEqual(
        [START + 2 * MINUTE, START + 1441 * MINUTE].map(isoOf),
      )
      clock.jump(-1000 * MINUTE)
      await figures.write()
      expect((await figures.list()).map(({ at }) => at)).toEqual(
        [START + 2 * MINUTE, START + 441 * MINUTE].map(isoOf),
      )
      expect(await rows()).toBe(2)
    })
  })

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}
