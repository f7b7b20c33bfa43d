// Stories of what not every engine can do. The friends have made their accounts outside of the app.
import { contentOf } from '@sotto/client'
import type { RelayProcess } from '@sotto/relay/testing'
import { Person, until } from '../../../client/test/people.ts'
import { english as en } from '../all-texts.ts'
import type { Engine } from './tab.ts'
import { Visitor } from './visitor.ts'

/** Alice, with the app and an open conversation with Bob, who uses the library. */
export async function aliceAndBob(engine: Engine, relay: RelayProcess): Promise<readonly [Visitor, Person]> {
  const [phrase, bob] = await befriended('Alice', 'Bob', relay.url)
  const alice = await recovered(engine, 'Alice', phrase, relay.url)
  await alice.opens('Bob')
  return [alice, bob]
}

/** Records a voice message in the open conversation, and sends it. */
export async function voiceStory(alice: Visitor, bob: Person): Promise<void> {
  await alice.presses(en.conversation.record)
  await alice.reads(/\b0:(?:0[1-9]|[1-5]\d)\b/)
  await alice.presses(en.media.sendVoice)
  await until('Bob receives the voice message', () =>
    bob.heard.message.map(contentOf).find((content) => content?.kind === 'voice'),
  )
}

/** Loads the app without a network, and goes on with it afterwards. */
export async function offlineStory(alice: Visitor, bob: Person, relay: RelayProcess): Promise<void> {
  await alice.tab.compute(`navigator.serviceWorker.controller !== null || new Promise((resolve) =>
    navigator.serviceWorker.addEventListener('controllerchange', () => resolve(true)))`)
  await relay.kill('SIGKILL')
  await alice.tab.reload()
  await alice.opens('Bob')
  await alice.writes('Written without a network.')
  await relay.start()
  await bob.receives('Written without a network.')
}

/** The first has left; the other is there. Returns the phrase of the first. */
async function befriended(first: string, second: string, url: string): Promise<readonly [string, Person]> {
  const leaves = await Person.join(first, url)
  const stays = await Person.join(second, url)
  await leaves.befriend(stays)
  const phrase = await leaves.client.recoveryPhrase()
  await leaves.client.close()
  return [phrase, stays]
}

async function recovered(engine: Engine, name: string, phrase: string, url: string): Promise<Visitor> {
  const visitor = new Visitor(name, await engine.newProfile())
  await visitor.tab.open(url)
  await visitor.recovers(phrase)
  return visitor
}
