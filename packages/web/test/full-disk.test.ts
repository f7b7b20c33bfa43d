// The disk of the relay is full: the app says so in words, keeps what was written, and sends it later. The
// people are the expectations: `sees`, `reads` and `receives` fail if what they name does not come.
import { afterAll, test } from 'bun:test'
import { until } from '../../client/test/people.ts'
import { mountSmallDisk, type SmallDisk } from '../../relay/test/small-disk.ts'
import { AppWorld } from './world.ts'

const MIB = 1024 * 1024

let disk: SmallDisk
const world = new AppWorld(async () => {
  disk = await mountSmallDisk(40)
  return { DATA_DIR: disk.folder, LOG_LEVEL: 'error' }
})
afterAll(() => disk?.remove())

test('a message to a full relay waits, the app says why, and it is sent once there is space', async () => {
  const [alice, bob] = await world.withFriend('Alice', 'Bob')
  await alice.opens('Bob')
  await alice.writes('before')
  await alice.sees('before', { mark: 'delivered' })
  disk.fillUpTo(MIB)
  await until('the relay says that it is full', async () => {
    const { storage } = await (await fetch(`${world.relay.url}/ready`)).json()
    return storage === 'full'
  })
  await alice.writes('while it is full')
  await alice.reads(alice.t.errors.codes.RELAY_FULL ?? '')
  await alice.sees('while it is full', { mark: 'sending' })
  disk.empty()
  await alice.sees('while it is full', { mark: 'delivered' })
  await bob.receives('while it is full')
})
