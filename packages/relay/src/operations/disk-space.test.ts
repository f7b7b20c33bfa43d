// The reserves of a disk: what runs counts before it is written, deleted rows count as space, and the log
// has one line for each change.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { ProtocolError } from '@sotto/protocol'
import { clockAt } from '../../test/mailbox-world.ts'
import { recordingLog } from '../../test/payment-watch.ts'
import { mountSmallDisk, type SmallDisk } from '../../test/small-disk.ts'
import { openSqlite } from '../storage/sqlite.ts'
import type { Storage } from '../storage/storage.ts'
import { DiskSpace } from './disk-space.ts'
import { readReadiness } from './readiness.ts'
import { reservesOf, spaceConfigOf } from './space-settings.ts'

const MIB = 1024 * 1024
const clock = clockAt(1_800_000_000_000)
let disk: SmallDisk
let storage: Storage
let space: DiskSpace
let events: [string, string][]

beforeEach(async () => {
  disk = await mountSmallDisk(40)
  storage = await openSqlite(disk.folder)
  const recorded = recordingLog()
  events = recorded.events
  const folders = { databaseFolder: disk.folder, mediaFolder: disk.folder }
  const config = { reserveBytes: undefined, lastReserveBytes: undefined }
  const mediaBytes = async (): Promise<number> => 0
  space = new DiskSpace({ storage, config, ...folders, mediaBytes, clock, log: recorded.log })
  await space.look()
})
afterEach(async () => {
  await storage.close()
  await disk.remove()
})

function refusalOf(work: () => void): string {
  try {
    work()
    return 'accepted'
  } catch (error) {
    return error instanceof ProtocolError ? error.code : String(error)
  }
}

test('uploads that run hold the space that they may still need', async () => {
  const slow = Promise.withResolvers<void>()
  const running = space.holdMedia(30 * MIB, async () => {
    await slow.promise
    return { bytes: 20 * MIB }
  })
  expect(refusalOf(() => space.checkMedia(10 * MIB))).toBe('RELAY_FULL')
  expect(refusalOf(() => space.checkMedia(10 * MIB))).toBe('RELAY_FULL')
  expect(refusalOf(() => space.checkMedia(MIB))).toBe('accepted')
  slow.resolve()
  await running
  // What it has written counts until the disk is read again.
  expect(refusalOf(() => space.checkMedia(20 * MIB))).toBe('RELAY_FULL')
  expect(refusalOf(() => space.checkMedia(10 * MIB))).toBe('accepted')
  await space.look()
  expect(refusalOf(() => space.checkMedia(20 * MIB))).toBe('accepted')
  clock.advance(10_000)
  await space.look()
  await space.stop()
  expect(events).toEqual([
    ['warn', 'media_refused'],
    ['info', 'media_accepted'],
  ])
})

test('an upload that fails gives back the space that it held at once', async () => {
  const failed = await space.holdMedia(30 * MIB, () => Promise.reject(new Error('cut off'))).catch(String)
  expect(failed).toBe('Error: cut off')
  expect(refusalOf(() => space.checkMedia(30 * MIB))).toBe('accepted')
})

test('the space of rows that were deleted counts, although the file stays as large', async () => {
  disk.fillUpTo(MIB)
  await space.look()
  expect([space.state, space.takesNew]).toEqual(['full', false])
  expect(refusalOf(() => space.check('little'))).toBe('RELAY_FULL')

  disk.empty()
  const big = 'x'.repeat(MIB)
  for (let row = 0; row < 8; row++) {
    await storage.transaction(
      (sql) => sql`INSERT INTO relay_state (name, value) VALUES (${`big ${row}`}, ${big})`,
    )
  }
  await storage.transaction((sql) => sql`DELETE FROM relay_state WHERE name LIKE 'big %'`)
  disk.fillUpTo(MIB)
  await space.look()
  expect([space.state, space.takesNew]).toEqual(['ok', true])
})

test('a write that failed for lack of space refuses new work until a write succeeds', async () => {
  space.reportFull()
  expect(space.state).toBe('full')
  await space.look()
  expect(space.state).toBe('ok')
  await space.stop()
  expect(events.map(([, event]) => event)).toEqual(['storage_full', 'storage_has_space'])
})

test('readiness writes to the store, once a second at most', async () => {
  const written = async (): Promise<string | undefined> => {
    const rows = await storage.sql<{ value: string }>`
      SELECT value FROM relay_state WHERE name = 'last_write_probe'`
    return rows[0]?.value
  }
  const parts = {
    ...{ space, clockTrust: { isLost: async () => false }, durability: { state: 'ok' } as const },
    bus: { state: { isHeard: true } },
    paymentTroubles: async () => [],
    isDraining: false,
  }
  expect(await readReadiness(parts)).toEqual({
    ready: true,
    parts: { node: 'ok', storage: 'ok', expiry: 'ok', durability: 'ok', bus: 'ok', payments: 'ok' },
  })
  expect((await readReadiness({ ...parts, bus: { state: { isHeard: false } } })).parts.bus).toBe('silent')
  const first = await written()
  expect(first).toBe(new Date(clock.now()).toISOString())
  clock.advance(999)
  await readReadiness(parts)
  expect(await written()).toBe(first)
  clock.advance(1)
  await readReadiness(parts)
  expect(await written()).toBe(new Date(clock.now()).toISOString())
})

test('the reserves are worked out from the disk, unless they are set', () => {
  const unset = { reserveBytes: undefined, lastReserveBytes: undefined }
  const gib = 1024 * MIB
  expect(reservesOf(unset, gib)).toEqual({
    reserveBytes: Math.floor(gib / 10),
    lastReserveBytes: Math.floor(gib / 20),
  })
  expect(reservesOf(unset, 500 * gib)).toEqual({ reserveBytes: gib, lastReserveBytes: 256 * MIB })
  expect(reservesOf({ ...unset, reserveBytes: 0 }, gib)).toEqual({ reserveBytes: 0, lastReserveBytes: 0 })
  const settings = (reserve: string, last: string) => (name: string) =>
    name === 'DISK_RESERVE_BYTES' ? reserve : last
  expect(spaceConfigOf(settings('7', '7'))).toEqual({ reserveBytes: 7, lastReserveBytes: 7 })
  const wrong = (reserve: string, last: string): string =>
    refusalOf(() => spaceConfigOf(settings(reserve, last)))
  expect(wrong('1 GiB', '')).toBe('SettingError: DISK_RESERVE_BYTES must be a whole number of bytes')
  const tooLarge =
    'SettingError: DISK_LAST_RESERVE_BYTES must be at most DISK_RESERVE_BYTES, which must be set too'
  expect([wrong('7', '8'), wrong('', '8')]).toEqual([tooLarge, tooLarge])
})
