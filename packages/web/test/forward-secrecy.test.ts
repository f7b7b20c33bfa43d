// Stories of forward secrecy: two people's apps move up to it by themselves, keep it through what happens to
// browsers and relays, and say what the user should know.
import { expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killBrowser } from '../../client/test/browser/profile.ts'
import { until } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import { says, talkUntilSecret, versionOf } from './secret-talk.ts'
import { isTold } from './told.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()
/** Two people with the app, who have opened their conversation. */
async function secretFriends(): Promise<readonly [AppPerson, AppPerson]> {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  await alice.opens('Bob')
  await bob.opens('Alice')
  await talkUntilSecret(alice, bob)
  return [alice, bob]
}

/** The two slots of the erasure key, in hexadecimal, from the file of the browser; none without the file. */
async function slotsOf({ page }: AppPerson): Promise<readonly string[]> {
  return page.evaluate(async () => {
    const root = await navigator.storage.getDirectory()
    const names: string[] = []
    for await (const name of root.keys()) names.push(name)
    if (!names.includes('sotto-erasure-sotto')) return []
    const file = await (await root.getFileHandle('sotto-erasure-sotto')).getFile()
    const bytes = new Uint8Array(await file.arrayBuffer())
    const hex = (from: number): string =>
      Array.from(bytes.subarray(from, from + 32), (byte) => byte.toString(16).padStart(2, '0')).join('')
    return [hex(0), hex(4096)]
  })
}

const ERASED = '0'.repeat(64)

/** The erasure key, once a rotation has erased the one before it. */
async function erasureKeyOf(person: AppPerson): Promise<string> {
  return until('one slot has a key, and the other none', async () => {
    const keys = (await slotsOf(person)).filter((slot) => slot !== ERASED)
    return keys.length === 1 ? keys[0] : undefined
  })
}

test('two people write under version 3, through a reload and a restart of the relay, and the keys go', async () => {
  const [alice, bob] = await secretFriends()
  const { secrecy, contacts } = alice.t
  const before = await erasureKeyOf(alice)
  const sent: string[] = []
  alice.page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => sent.push(String(payload))))
  await alice.reloads()
  expect(await says(alice, bob, 'after the reload')).toBe(3)
  expect(await says(bob, alice, 'I see')).toBe(3)
  expect(sent.some((frame) => frame.includes('"crypto_v":3') && frame.includes('"payload"'))).toBe(true)
  // What an earlier key has sealed is rotated on opening.
  expect(await erasureKeyOf(alice)).not.toBe(before)

  await world.relayFails()
  await world.relay.start()
  expect(await says(alice, bob, 'after the restart')).toBe(3)
  expect(await says(bob, alice, 'it works')).toBe(3)

  await alice.does(alice.t.conversation.details, 'after the restart')
  await alice.reads(secrecy.message)
  await alice.presses(alice.t.common.close)
  await alice.opensCode('Bob')
  await alice.reads(secrecy.hasText)
  await alice.reads(secrecy.began)
  await alice.goesTo('#/contacts')
  await alice.conversationWith('Bob').click()
  await alice.reads(secrecy.has)
  await alice.reads(contacts.message)

  // With the account, every key goes from the device.
  await alice.goesTo('#/settings/account')
  await alice.presses(alice.t.settings.erase)
  await alice.presses(alice.t.settings.eraseDo)
  await alice.page.getByRole('button', { name: alice.t.welcome.create }).waitFor()
  expect(await slotsOf(alice)).toEqual([ERASED, ERASED])
})

test('a second tab takes over when the first one is closed, and nobody has to join again', async () => {
  const [alice, bob] = await secretFriends()
  const first = alice.page
  await alice.comes()
  await alice.opens('Bob')
  expect(await says(alice, bob, 'from the second tab')).toBe(3)
  await first.close()
  expect(await says(alice, bob, 'from the tab that is left')).toBe(3)
  expect(await says(bob, alice, 'to the tab that is left')).toBe(3)
  expect(await bob.page.getByText(bob.t.secrecy.peerRejoined('Alice')).count()).toBe(0)
  await alice.opensCode('Bob')
  await alice.reads(alice.t.secrecy.began)
  expect(await alice.page.getByText(alice.t.secrecy.rejoined.no_state).count()).toBe(0)
})

test('a browser that is killed goes on with its keys, and reads what came meanwhile', async () => {
  const profile = await mkdtemp(join(tmpdir(), 'sotto-secret-'))
  try {
    const [phrase = '', bobsPhrase = ''] = await world.phrasesOfFriends('Alice', 'Bob')
    const alice = await world.recovered('Alice', phrase, { profile })
    const bob = await world.recovered('Bob', bobsPhrase)
    await alice.opens('Bob')
    await bob.opens('Alice')
    await talkUntilSecret(alice, bob)
    await killBrowser(profile)
    await bob.writes('while you were away')
    await bob.sees('while you were away', { mark: 'sent' })
    const again = await world.stranger('Alice', { profile })
    await again.opens('Bob')
    await again.sees('while you were away')
    expect(await versionOf(again, 'while you were away')).toBe(3)
    expect(await says(again, bob, 'I am back')).toBe(3)
    expect(await bob.page.getByText(bob.t.secrecy.peerRejoined('Alice')).count()).toBe(0)
    await again.context.close()
  } finally {
    await rm(profile, { recursive: true, force: true })
  }
})

test('an account in a new browser joins again, both people see it, and the old device takes it back by a word', async () => {
  const [phrase = '', bobsPhrase = ''] = await world.phrasesOfFriends('Alice', 'Bob')
  const alice = await world.recovered('Alice', phrase)
  const bob = await world.recovered('Bob', bobsPhrase)
  await alice.opens('Bob')
  await bob.opens('Alice')
  await talkUntilSecret(alice, bob)
  const { common, secrecy } = bob.t
  const told = bob.page.getByRole('status').filter({ hasText: secrecy.peerRejoined('Alice') })

  const other = await world.recovered('Alice', phrase)
  await alice.reads(alice.t.common.replacedTitle)
  await other.opens('Bob')
  expect(await says(other, bob, 'from my new device')).toBe(3)
  await told.waitFor()
  // It stays until it was seen, also through a reload.
  await bob.reloads()
  await told.getByRole('button', { name: common.close }).click()
  await told.waitFor({ state: 'detached' })
  await bob.reloads()
  await bob.sees('from my new device')
  await bob.opensCode('Alice')
  await bob.reads(secrecy.peerRejoined('Alice'))
  await bob.goesTo('#/chats')
  await bob.opens('Alice')
  expect(await told.count()).toBe(0)
  await other.leaves()

  await alice.presses(alice.t.common.useHere)
  await alice.writes('from the first one')
  await alice.page
    .getByRole('alert')
    .filter({ hasText: secrecy.displaced('Bob', 0) })
    .waitFor()
  await alice.presses(secrecy.useThisDevice)
  await bob.sees('from the first one')
  expect(await versionOf(bob, 'from the first one')).toBe(3)
  await alice.page.getByText(secrecy.displacedText).waitFor({ state: 'detached' })
})

test('messages go without forward secrecy by the user’s word, which both see, until the contact writes with it', async () => {
  const [alice, bob] = await secretFriends()
  const { secrecy } = alice.t
  const place = new URL(alice.page.url()).hash
  await alice.opensCode('Bob')
  await alice.presses(secrecy.lower)
  await alice.reads(secrecy.lowerText('Bob'))
  await alice.page.getByRole('dialog').getByRole('button', { name: secrecy.lower }).click()
  await alice.reads(secrecy.loweredText('Bob'))
  await alice.goesTo(place)
  await alice.reads(secrecy.lowered('Bob'))
  expect(await says(alice, bob, 'under the one key')).toBe(1)
  expect(await says(bob, alice, 'with a key of its own')).toBe(3)
  expect(await says(alice, bob, 'with one again')).toBe(3)
})

test('a program without forward secrecy still talks with the app, which says that there is none yet', async () => {
  const [alice, bob, toAlice] = await world.withFriend('Alice', 'Bob')
  const { secrecy } = alice.t
  await alice.opens('Bob')
  for (const round of [1, 2, 3]) {
    await alice.writes(`to Bob ${round}`)
    await bob.receives(`to Bob ${round}`)
    await bob.client.send(toAlice, `to Alice ${round}`)
    await alice.sees(`to Alice ${round}`)
  }
  expect(await versionOf(alice, 'to Bob 3')).toBe(1)
  expect(await versionOf(alice, 'to Alice 3')).toBe(1)
  await alice.opensCode('Bob')
  await alice.reads(secrecy.hasNotText('Bob'))
})

test('who erases a locked device leaves no file of its keys', async () => {
  const [alice] = await secretFriends()
  const { lock, welcome } = alice.t
  const passphrase = 'plum otter canyon velvet'
  await alice.setsPassphrase(passphrase)
  await alice.locks()
  expect(await slotsOf(alice)).toHaveLength(2)
  await alice.presses(lock.forgotten)
  await alice.presses(lock.forgottenDo)
  await alice.page.getByRole('button', { name: welcome.create }).waitFor()
  expect(await slotsOf(alice)).toEqual([])
})

test('an app whose script of forward secrecy cannot be loaded says so, and loads it by another try', async () => {
  const [phrase = '', bobsPhrase = ''] = await world.phrasesOfFriends('Alice', 'Bob')
  const alice = await world.stranger('Alice')
  const bob = await world.recovered('Bob', bobsPhrase)
  alice.expects(/net::ERR_FAILED/)
  await alice.context.route('**/assets/forward-secrecy-*.js', (route) => route.abort())
  await alice.recovers(phrase)
  await alice.opens('Bob')
  await alice.writes('without it')
  await bob.opens('Alice')
  await bob.sees('without it')
  await bob.writes('I see')
  await alice.sees('I see')
  await isTold(alice, alice.t.errors.codes.NETWORK ?? '')
  await alice.context.unrouteAll()
  await alice.reloads()
  await talkUntilSecret(alice, bob)
  expect(await alice.page.getByText(alice.t.store.failedTitle).count()).toBe(0)
})
