// The stock of key packages of a device, at a real relay: when it is filled and renewed.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { ConversationId, check, keyPackageEndpoints } from '@sotto/protocol'
import { MemoryStore } from '../src/client.ts'
import { KeyPackageStock } from '../src/forward-secrecy/key-package-stock.ts'
import { openOwnLeaf } from '../src/forward-secrecy/own-leaf.ts'
import { deviceOf } from '../src/module-access.ts'
import type { SecretStates } from '../src/stores/secret-states.ts'
import type { Person } from './people.ts'
import { PeopleWorld } from './people-world.ts'
import { openStates } from './stores/secret-states-world.ts'

setDefaultTimeout(240_000)

const DAY_MS = 86_400_000

// After one claim a friend gets last resorts.
const world = new PeopleWorld({ LIMIT_KEY_PACKAGE_CLAIMS: '1' })

interface StockOfOne {
  readonly stock: KeyPackageStock
  readonly states: SecretStates
  /** Lets days go by for the device. */
  readonly pass: (days: number) => void
  /** The references of all packages that the device has the secrets of. */
  readonly stored: () => Promise<readonly string[]>
}

/** The stock of a person's device, whose clock a test moves. */
async function stockOf(person: Person): Promise<StockOfOne> {
  const { http, identity } = deviceOf(person.client).needEngine()
  const states = await openStates(new MemoryStore())
  let now = Date.now()
  const take = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length))
  const leaf = await openOwnLeaf(states, new URL(world.relay.url).host, identity.keys, take, now)
  return {
    stock: new KeyPackageStock(states, leaf, http, () => now),
    states,
    pass: (days) => {
      now += days * DAY_MS
    },
    stored: () => states.list('package'),
  }
}

test('a last resort that has less than 30 days left is replaced, and its secrets stay', async () => {
  const [alice, bob] = [await world.join('alice'), await world.join('bob')]
  const conversation = await alice.befriend(bob)
  const { stock, states, pass, stored } = await stockOf(alice)
  const claimed = async (): Promise<string> => {
    const params = { conv_id: check(ConversationId, conversation) }
    const { http } = deviceOf(bob.client).needEngine()
    const { packages } = await http.call(keyPackageEndpoints.claimKeyPackages, { params })
    const [given] = packages
    if (!given) throw new Error('nothing was given out')
    const [reference] = (await stored()).filter((each) => each.startsWith(given.id))
    if (reference === undefined) throw new Error('the device does not know it')
    return `${given.is_last_resort ? 'last resort' : 'package'} ${reference}`
  }
  await stock.fill()
  expect(await claimed()).toStartWith('package ')
  const first = await claimed()
  expect(first).toStartWith('last resort ')
  pass(29)
  await stock.fill()
  expect(await claimed()).toBe(first)
  pass(2)
  await stock.fill()
  const second = await claimed()
  expect(second).toStartWith('last resort ')
  expect(second).not.toBe(first)
  expect(await stored()).toHaveLength(42)
  await stock.fill()
  expect(await claimed()).toBe(second)
  await states.close()
})
