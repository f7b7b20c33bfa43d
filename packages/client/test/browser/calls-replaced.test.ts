// A call on a device that another device with the same account replaces.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { Person, until } from '../people.ts'
import { type Caller, CallsWorld, connect } from './calls-world.ts'

setDefaultTimeout(240_000)

const world = new CallsWorld()

/** The account of a page comes on another device. */
async function comesElsewhere({ page }: Caller): Promise<Person> {
  const [mnemonic, relayUrl] = await page.evaluate(
    async () => [await phone.client.recoveryPhrase(), phoneSettings.relayUrl] as const,
  )
  const device = await Person.open('another device', relayUrl)
  await device.client.recover({ mnemonic })
  await device.connect()
  return device
}

const connectionsOf = ({ page }: Caller): Promise<string[]> =>
  page.evaluate(() => phone.connections.map(({ signalingState }) => signalingState))

test('another device that comes during a call ends it, and both sides learn it', async () => {
  const [alice, bob] = await world.pair()
  await connect(alice, bob)
  await alice.seesAndHears()
  // Alice does not only give up waiting for media: the other device has closed them.
  await alice.page.evaluate(() => {
    phone.hurry = 0.001
  })
  const device = await comesElsewhere(bob)
  await bob.is('ended: replaced')
  expect(await connectionsOf(bob)).toEqual(['closed'])
  await alice.is('ended: connection_lost')
  expect(await connectionsOf(alice)).toEqual(['closed'])
  await device.client.close()
})

test('a call in another tab than the one with the client ends with the same reason', async () => {
  const [first, bob] = await world.pair({ isShared: true }, {})
  const second = await world.anotherTab(first)
  await until('the second tab is connected', () =>
    second.page.evaluate(() => phone.client.networkState === 'connected'),
  )
  expect(await second.call(bob)).toBe('done')
  await bob.is('ringing')
  await bob.accept()
  await second.is('connected')
  const device = await comesElsewhere(first)
  await second.is('ended: replaced')
  await first.is('elsewhere ended: replaced')
  await bob.is('ended: connection_lost')
  await device.client.close()
})
