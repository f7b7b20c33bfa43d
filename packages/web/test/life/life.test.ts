// The life of a relay that is one file: the first start with a domain, people in browsers over https, and
// what its operator does to it later. The tests follow each other.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash, X509Certificate } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { findFreePort } from '@sotto/relay/testing/free-port'
import { type Pebble, startPebble } from '@sotto/relay/testing/pebble'
import { openPlainDoor, type PlainDoor } from '@sotto/relay/testing/plain-door'
import type { Browser } from 'playwright-core'
import { buildTwoVersions, type Versions } from '../../../cli/test/two-versions.ts'
import { startChromium } from '../../../client/test/browser/chromium.ts'
import { until } from '../../../client/test/people.ts'
import { Operator } from '../admin-world.ts'
import { AppPerson } from '../app-person.ts'
import { recordNotices } from '../told.ts'
import { EndlessTalk } from './endless-talk.ts'
import { RelayFile } from './relay-file.ts'

setDefaultTimeout(600_000)
const DOMAIN = 'relay.example'
/**
 * So short that the relay finds two thirds of a certificate's life over when it looks for the first time, a
 * minute after its start. A third is left to a busy machine. On the first machine certificates live longer:
 * after an upgrade the minute begins again.
 */
const LIFE_SECONDS = 88

let versions: Versions
/** Where the relay gets its certificate, and where it does on its second machine. */
let pebbles: readonly [Pebble, Pebble]
let relay: RelayFile
let door: PlainDoor
let browser: Browser
let url = ''
const people: AppPerson[] = []
/** Goes on from the move to another machine to the renewal of the certificate there. */
let lasting: EndlessTalk

beforeAll(async () => {
  const [port, httpPort] = [await findFreePort(), await findFreePort()]
  pebbles = [await startPebble(httpPort), await startPebble(httpPort, LIFE_SECONDS)]
  url = `https://${DOMAIN}:${port}`
  versions = await buildTwoVersions()
  relay = await RelayFile.install(versions, {
    ...{ ...pebbles[0].settings, DOMAIN, PORT: String(port), HTTP_PORT: String(httpPort), HOST: '127.0.0.1' },
    ...{ RATE_LIMITS: 'off', LIMIT_POW_DIFFICULTY: '1', LOG_LEVEL: 'info' },
  })
  expect(await readdir(relay.folder)).toEqual(['sotto'])
  await relay.serve()
  const authorities = await Promise.all(pebbles.map((pebble) => pebble.authority()))
  const keys = await Promise.all(pebbles.map(async (pebble) => keyHash(await pebble.intermediate())))
  door = await openPlainDoor({ port, host: DOMAIN, authorities: () => authorities })
  browser = await startChromium(
    `--host-resolver-rules=MAP ${DOMAIN} 127.0.0.1`,
    `--ignore-certificate-errors-spki-list=${keys.join()}`,
  )
})
afterAll(async () => {
  await browser?.close()
  door?.close()
  await relay?.stop()
  for (const pebble of pebbles ?? []) await pebble.remove()
  if (versions) await rm(versions.root, { recursive: true })
})

/** Chromium trusts what this key has signed. (Its own list of authorities cannot be changed by a flag.) */
function keyHash(certificate: string): string {
  const key = new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(key).digest('base64')
}

async function newcomer(name: string): Promise<AppPerson> {
  const context = await browser.newContext(AppPerson.settings({}))
  await recordNotices(context)
  const person = new AppPerson(name, context, url)
  people.push(person)
  await person.comes()
  await person.registers()
  return person
}

test('people open the app over https, make accounts, and talk', async () => {
  const [alice, bob] = [await newcomer('Alice'), await newcomer('Bob')]
  await alice.befriends(bob)
  await alice.opens('Bob')
  await bob.opens('Alice')
  await alice.writes('hello over https')
  await bob.sees('hello over https')
  await bob.writes('hello back')
  await alice.sees('hello back')
  await alice.sees('hello over https', { mark: 'read' })
  expect(await alice.page.evaluate(() => isSecureContext)).toBe(true)
  await alice.waitsUntilKept()
})

test('it is upgraded while people talk, and no message is lost', async () => {
  const [alice, bob] = both()
  for (const person of people) person.expectsInterruptions()
  const talk = await EndlessTalk.begin(url, door.url)
  await until('they talk', () => talk.count > 10)
  expect(await relay.call('upgrade', versions.next)).toEndWith('Version 99.0.0 runs.\n')
  const { count } = talk
  await until('they still talk', () => talk.count > count + 10)
  await talk.end()
  await alice.writes('after the upgrade')
  await bob.sees('after the upgrade')
})

test('it is backed up while people talk, and goes on from the backup on another machine', async () => {
  const [alice, bob] = both()
  await bob.leaves()
  await alice.writes('while Bob is away')
  await alice.sees('while Bob is away', { mark: 'sent' })
  const talk = await EndlessTalk.begin(url, door.url)
  await until('they talk', () => talk.count > 10)
  await relay.call('backup', '--folder', 'backups')
  await talk.end()
  for (const person of people) person.expectsInterruptions()
  expect(await relay.stop()).toBe(0)

  relay = await relay.moves(pebbles[1].settings, 'backups')
  await relay.call('restore', '--from', 'backups')
  await relay.serve()
  await bob.comes()
  await bob.opens('Alice')
  await bob.sees('while Bob is away')
  await alice.sees('while Bob is away', { mark: 'read' })
  await bob.writes('here again')
  await alice.sees('here again')
  door.failures.length = 0
  lasting = await EndlessTalk.begin(url, door.url)
  expect(relay.count('certificate_issued')).toBe(1)
})

test('a channel that does harm is removed, and who made it is suspended', async () => {
  const [alice, bob] = both()
  const mallory = await newcomer('Mallory')
  await mallory.befriends(bob)
  const alias = await mallory.ownAlias()
  const { channels } = mallory.t
  await mallory.goesTo('#/channels/new')
  await mallory.page.getByLabel(channels.name, { exact: true }).fill('Free prizes')
  await mallory.presses(channels.create)
  await mallory.page.getByLabel(channels.newPost).fill('Send me your twelve words')
  await mallory.presses(channels.post)
  await mallory.sees('Send me your twelve words')
  await findsChannels(alice, 'Free')
  await alice.page.getByRole('link').filter({ hasText: 'Free prizes' }).click()
  await alice.sees('Send me your twelve words')

  const [channel] = JSON.parse(await relay.call('channels', 'find', 'Free prizes', '--json'))
  await relay.call('channels', 'delete', channel.channel_id, '--reason', 'It asks for recovery phrases.')
  await findsChannels(alice, 'prizes')
  await alice.reads(alice.t.channels.nothingFound)

  mallory.expectsInterruptions()
  mallory.expects(/status of 40[134]/) // The channel is gone, and the account gets no ticket.
  await relay.call('accounts', 'suspend', alias, '--reason', 'You asked people for their phrases.')
  await mallory.reads('You asked people for their phrases.')
  const deeds = await relay.call('deeds')
  expect(deeds).toContain('It asks for recovery phrases.')
  expect(deeds).toContain('You asked people for their phrases.')
})

async function findsChannels(person: AppPerson, text: string): Promise<void> {
  await person.goesTo('#/channels')
  await person.page.getByRole('textbox', { name: person.t.channels.search }).fill(text)
}

test('its certificate is renewed while people talk, and no message is lost', async () => {
  await until('the certificate is renewed', () => relay.count('certificate_issued') > 1, LIFE_SECONDS * 1000)
  const { count } = lasting
  await until('they still talk', () => lasting.count > count + 10)
  await lasting.end()
  expect(door.failures).toEqual([])
  const [alice, bob] = both()
  for (const [person, friend] of [
    [alice, 'Bob'],
    [bob, 'Alice'],
  ] as const) {
    await person.goesTo('#/chats')
    await person.opens(friend)
  }
  await alice.writes('after the renewal')
  await bob.sees('after the renewal')
  expect(people.flatMap(({ complaints }) => complaints)).toEqual([])
})

test('the operator sees the figures on a page', async () => {
  const link = /http:\S+/.exec(await relay.call('admin'))?.[0] ?? ''
  const context = await browser.newContext(Operator.settings({}))
  const operator = new Operator('Ada', context, link)
  await operator.comes()
  await operator.reads(operator.t.admin.status.certificate)
  expect(Number(await operator.figure(operator.t.admin.status.connections))).toBeGreaterThan(0)
  // There is a value for each whole minute, and one has passed.
  await operator.visits('charts')
  await operator.page.getByRole('img').first().waitFor()
  await operator.visits('deeds')
  await operator.reads('You asked people for their phrases.')
  expect(operator.complaints).toEqual([])
  await context.close()
})

function both(): readonly [AppPerson, AppPerson] {
  const [alice, bob] = people
  if (!alice || !bob) throw new Error('nobody has joined')
  return [alice, bob]
}
