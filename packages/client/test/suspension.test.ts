// What the client says when the relay's operator suspends its account, against a real relay.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { liftSuspension, suspendAccount } from './operator.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)
const world = new PeopleWorld()
const REFUSED = { code: 'REFUSED', refusal: 'ACCOUNT_SUSPENDED' }

/** Waits until the client has given up connecting. */
async function givesUp({ name, client }: Person): Promise<void> {
  await until(`${name} gives up`, () => client.networkState === 'disconnected')
}

test('a suspended client says why, once at each attempt to connect, and connects when it is lifted', async () => {
  const [alice, bob] = await world.friends()
  await suspendAccount(world.relay, alice.alias, { why: 'Spam', until: '2037-01-31T12:00:00.000Z' })
  const words = { ...REFUSED, message: 'ACCOUNT_SUSPENDED: Spam (until 2037-01-31T12:00Z)' }
  await givesUp(alice)
  expect(alice.heard.goaway).toEqual([{ reason: 'jwt_revoked' }])
  expect(alice.heard.error).toMatchObject([words])
  alice.client.connect()
  await givesUp(alice)
  expect(alice.heard.error).toMatchObject([words, words])
  const { id } = await alice.client.send(bob.alias, 'while suspended')
  expect(await failureOf(alice.client.requestFriend(bob.alias))).toMatchObject(REFUSED)
  await liftSuspension(world.relay, alice.alias)
  await alice.connect()
  await bob.receives('while suspended')
  await alice.sees(bob.alias, id, 'delivered')
})

test('a suspended account is recovered on another device, read, and deleted', async () => {
  const alice = await world.join('alice')
  const mnemonic = await alice.client.recoveryPhrase()
  await suspendAccount(world.relay, alice.alias, { why: 'Spam' })
  await givesUp(alice)
  const device = await world.open('alice')
  await device.client.recover({ mnemonic })
  expect(device.alias).toBe(alice.alias)
  await device.client.deleteAccount()
  expect(device.client.identity).toBeUndefined()
  expect(await failureOf(alice.client.syncIdentity())).toMatchObject({ code: 'ACCOUNT_NOT_FOUND' })
})
