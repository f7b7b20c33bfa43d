// Lists arrive in PostgreSQL as they are, no matter what they contain.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { engines } from '../../test/engines.ts'
import { integers, texts } from './postgres-arrays.ts'
import type { Storage } from './storage.ts'

let storage: Storage

beforeAll(async () => {
  const engine = engines.find(({ name }) => name === 'PostgreSQL')
  if (!engine) throw new Error('no PostgreSQL')
  storage = (await engine.open()).storage
})
afterAll(() => storage.close())

// PostgreSQL keeps no U+0000 in a text.
const anyText = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0'))

test('texts arrive as they are', async () => {
  const asked = async (list: readonly string[]): Promise<string[]> => {
    const rows = await storage.sql<{ text: string }>`
      SELECT text FROM unnest(${texts(list)}::text::text[]) WITH ORDINALITY AS row (text, place) ORDER BY place`
    return rows.map(({ text }) => text)
  }
  for (const list of [[], [''], ['', ''], ['NULL', 'null'], ['"', '\\', '\\"', '{}', '{a,b}', ' a ', ',']])
    expect(await asked(list)).toEqual(list)
  await fc.assert(
    fc.asyncProperty(fc.array(anyText), async (list) => expect(await asked(list)).toEqual(list)),
    { numRuns: 50 },
  )
})

test('integers arrive as they are', async () => {
  const list = [0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 7, 7]
  const rows = await storage.sql<{ value: number }>`
    SELECT value FROM unnest(${integers(list)}::text::bigint[]) WITH ORDINALITY AS row (value, place) ORDER BY place`
  expect(rows.map(({ value }) => value)).toEqual(list)
})
