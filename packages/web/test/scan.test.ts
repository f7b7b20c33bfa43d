// Stories of the camera that scans: it looks at the screen of somebody else.
import { afterAll, beforeAll, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AppPerson } from './app-person.ts'
import { isTold } from './told.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-camera-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** A file with what a camera sees that looks at somebody's screen. */
async function sightOf(person: AppPerson): Promise<string> {
  const file = join(folder, `${person.name}.mjpeg`)
  await person.settles()
  await person.page.screenshot({ path: file, type: 'jpeg', quality: 90 })
  return file
}

test('an alias is scanned from the screen of somebody else, who becomes a contact', async () => {
  const bob = await world.joins('Bob')
  await bob.ownAlias()
  const alice = await world.joins('Alice', { camera: await sightOf(bob) })
  const { scan, contacts } = alice.t
  await alice.goesTo('#/contacts/add')
  await alice.presses(scan.scan)
  await alice.presses(scan.withCamera)
  await alice.presses(contacts.request)
  await alice.reads(contacts.waiting)
  await bob.goesTo('#/contacts')
  await bob.presses(contacts.accept)
  await isTold(bob, contacts.accepted('Alice'))
  await alice.page.getByLabel(scan.camera).waitFor({ state: 'detached' })
})

test('the security code on the screen of a contact is compared by the camera', async () => {
  const [phrase = '', bobsPhrase = ''] = await world.phrasesOfFriends('Alice', 'Bob')
  const bob = await world.recovered('Bob', bobsPhrase)
  await bob.opensCode('Alice')
  const alice = await world.recovered('Alice', phrase, { camera: await sightOf(bob) })
  const { scan, trust } = alice.t
  await alice.opensCode('Bob')
  await alice.presses(scan.scan)
  await alice.presses(scan.withCamera)
  await isTold(alice, trust.isVerified('Bob'))
})
