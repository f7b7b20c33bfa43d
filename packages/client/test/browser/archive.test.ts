// Archives in pages: any tab exports and imports, from and into IndexedDB.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { until } from '../people.ts'
import { BrowserWorld } from './world.ts'

setDefaultTimeout(240_000)

const world = new BrowserWorld()
const PASSPHRASE = 'several words drawn by lot'

test('a second tab exports, a tab of another browser imports, and goes on talking', async () => {
  const { second, bob, a, b } = await world.twoTabs()
  await second.call('send', b, 'one')
  await until('bob hears it', async () => (await bob.heardTexts()).length === 1)
  const archive = await second.call<number[]>('archive.export', PASSPHRASE)
  await second.call('disconnect')

  const context = await world.newContext()
  const first = await world.open(context)
  const moved = await world.open(context)
  expect(await failureOf(moved.call('archive.import', archive, 'another'))).toMatchObject({
    code: 'WRONG_PASSPHRASE',
  })
  expect(await failureOf(moved.call('archive.import', archive.slice(0, -1), PASSPHRASE))).toMatchObject({
    code: 'WRONG_PASSPHRASE',
  })
  const identity = await moved.call<object>('archive.import', archive, PASSPHRASE)
  expect(identity).toMatchObject({ aliasId: a })
  expect(identity).not.toHaveProperty('mnemonic')
  expect(await failureOf(first.call('archive.import', archive, PASSPHRASE))).toMatchObject({
    code: 'IDENTITY_EXISTS',
  })
  await first.call('connect')
  for (const tab of [first, moved]) await tab.connected()
  await bob.call('send', a, 'two')
  await moved.hears(1)
  await first.call('send', b, 'three')
  await until('bob hears it', async () => (await bob.heardTexts()).length === 2)
  expect((await moved.transcript(b)).map((line) => line.split(' [')[0])).toEqual([
    'me: one',
    'them: two',
    'me: three',
  ])
})
