// docs/operations/sizes.md says what the calculation gives, and the parts with many connections work with
// few.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { measureFanOut } from './fan-out.ts'
import { sizeFor, sizesTable } from './sizes.ts'
import { measureStorm } from './storm.ts'

setDefaultTimeout(240_000)

test('the table of sizes in the document is that of the calculation', async () => {
  const path = join(import.meta.dir, '../../docs/operations/sizes.md')
  expect(await Bun.file(path).text()).toContain(sizesTable().join('\n'))
})

test('a relay that one database and one bus can carry has one shard', () => {
  expect(sizeFor(1e6)).toMatchObject({ shards: 1, nodes: 2 })
  expect(sizeFor(1e8).shards).toBeGreaterThan(sizeFor(1e7).shards)
})

test('the clients of a node that dies come back to the other one', async () => {
  const { rows } = await measureStorm(60, { pairs: 4, rate: 20 })
  const figures = new Map(rows.map(({ figure, value }) => [figure, value]))
  expect(Number(figures.get('all are back after, s'))).toBeGreaterThan(0)
})

test('a post reaches all subscribers at both nodes', async () => {
  expect(await measureFanOut(2, 40)).toMatchObject({ nodes: 2, subscribers: 40 })
})
