// The central story, for any engine: somebody registers, befriends, talks, sends a picture, reloads, and
// recovers the account in another profile. The friend uses the library.
import { expect } from 'bun:test'
import { join } from 'node:path'
import { contentOf, Media } from '@sotto/client'
import { Person, until } from '../../../client/test/people.ts'
import type { Engine } from './tab.ts'
import { Visitor } from './visitor.ts'

const PICTURE = join(import.meta.dir, '../../public/icons/sotto-512.png')

/** @param relayUrl a relay that serves the app */
export async function centralStory(engine: Engine, relayUrl: string): Promise<void> {
  const bob = await Person.join('Bob', relayUrl)
  let alice = await comes(engine, relayUrl)

  // Registers.
  const phrase = await alice.registers()

  // Befriends.
  await alice.asksForFriendship(bob.alias)
  const request = await until('Bob sees the request', () => bob.heard.friend_request[0])
  await bob.client.acceptFriend(request.friendship_id)
  await alice.opens('Bob')

  // Talks.
  await alice.writes('Are you there?')
  const { conversationId } = await bob.receives('Are you there?')
  await alice.sees('Are you there?', 'delivered')
  const { id } = await bob.client.send(conversationId, 'Yes, I am.')
  await alice.sees('Yes, I am.')
  await bob.sees(conversationId, id, 'read')
  await bob.client.markRead(conversationId)
  await alice.sees('Are you there?', 'read')

  // Sends a picture.
  await alice.sendsPicture(PICTURE)
  await alice.seesPicture()
  const content = await until('Bob receives the picture', () =>
    bob.heard.message.map(contentOf).find((each) => each?.kind === 'image'),
  )
  const picture = await new Media(bob.client).download(conversationId, content)
  expect([content.width, content.height]).toEqual([512, 512])
  // It was drawn again, which removes what a camera writes into its pictures.
  expect(await picture.data.bytes()).not.toEqual(await Bun.file(PICTURE).bytes())

  // Reloads.
  await alice.tab.reload()
  await alice.sees('Yes, I am.')
  await alice.seesPicture()
  await alice.writes('Still here.')
  await bob.receives('Still here.')
  await alice.tab.close()

  // Recovers.
  alice = await comes(engine, relayUrl)
  await alice.recovers(phrase)
  await alice.opens('Bob')
  await alice.writes('Back again.')
  await bob.receives('Back again.')
  await bob.client.send(conversationId, 'Welcome back.')
  await alice.sees('Welcome back.')
  await alice.tab.close()
  await bob.client.close()
}

/** Alice, who opens the app in a profile without data. */
async function comes(engine: Engine, url: string): Promise<Visitor> {
  const alice = new Visitor('Alice', await engine.newProfile())
  await alice.tab.open(url)
  return alice
}
