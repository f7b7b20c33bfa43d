// Files between real chats, and calls that a terminal misses.
import { expect, test } from 'bun:test'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Caller } from '../../client/test/call-people.ts'
import { Person, until } from '../../client/test/people.ts'
import type { PeopleWorld } from '../../client/test/people-world.ts'
import { type Friends, useChats } from './chat-world.ts'

const world = useChats()
const { friends, pipedAt } = world

test('a file is sent with its name and saved under it, and a file of that name is not overwritten', async () => {
  const { alice, bob } = await friends()
  const folder = join(world.root, 'files')
  await mkdir(join(folder, 'inbox'), { recursive: true })
  const bytes = crypto.getRandomValues(new Uint8Array(60_000))
  await writeFile(join(folder, 'holiday photo.bin'), bytes)
  alice.type(`/send ${folder}/hol\t`)
  await alice.prompts(/photo\.bin$/)
  alice.enter('')
  await alice.sees(/✓ +#1 you: \(a file: holiday photo\.bin, 60 kB\)$/)
  await bob.sees(/#1 alice: \(a file: holiday photo\.bin, 60 kB\)$/)
  await writeFile(join(folder, 'inbox', 'holiday photo.bin'), 'mine')
  bob.enter(`/save 1 ${folder}/inbox`)
  await bob.sees(/• Saved .*holiday photo \(2\)\.bin/)
  expect(new Uint8Array(await readFile(join(folder, 'inbox', 'holiday photo (2).bin')))).toEqual(bytes)
  expect((await readdir(join(folder, 'inbox'))).sort()).toEqual([
    'holiday photo (2).bin',
    'holiday photo.bin',
  ])
  expect(await readFile(join(folder, 'inbox', 'holiday photo.bin'), 'utf8')).toBe('mine')

  // Without forward secrecy, words are a message of their own.
  alice.enter(`/send "${folder}/holiday photo.bin" from the north`)
  await alice.sees(/#2 you: from the north$/)
  await alice.sees(/#3 you: \(a file: holiday photo\.bin, 60 kB\)$/)
  await bob.sees(/#2 alice: from the north$/)
  await bob.sees(/#3 alice: \(a file: holiday photo\.bin, 60 kB\)$/)
  alice.type(`/send "${folder}/hol\t`)
  await alice.prompts(/"\S+holiday photo\.bin$/)
  alice.enter('" and from the south')
  await bob.sees(/#4 alice: and from the south$/)

  alice.enter('/send /no/such/file')
  await alice.sees(/There is no file \/no\/such\/file\./)
  alice.enter(`/send ${folder}`)
  await alice.sees(/is not a file\./)
  bob.enter('/save 7')
  await bob.sees(/There is no message 7\./)
  await alice.leave()
  await bob.leave()
}, 240_000)

test('over pipes, a file is sent before the chat ends', async () => {
  const { alice, bob, homes } = await friends()
  await bob.leave()
  const path = join(world.root, 'piped.txt')
  await writeFile(path, 'piped')
  const piped = pipedAt(homes[1])
  await piped.sees(/• connected/)
  piped.enter(`/send ${path}`)
  expect(await piped.end()).toBe(0)
  await alice.sees(/bob: \(a file: piped\.txt, 5 bytes\)$/)
  await alice.leave()
}, 240_000)

/** Carol, who calls from another app, is a new friend of the person in a chat. */
async function carolWith({ alice, aliases: [alias] }: Friends): Promise<Caller> {
  const join: PeopleWorld['join'] = (name, options) => Person.join(name, world.relay.url, options)
  const carol = await Caller.join({ join }, 'carol')
  await carol.person.client.requestFriend(alias)
  await alice.sees(/carol asks to be your friend/)
  alice.enter('/accept carol')
  await until('carol is a friend', () => carol.person.heard.friend_accepted[0])
  return carol
}

test('a call that the terminal cannot take is told with the name of the caller, and then as missed', async () => {
  const chats = await friends()
  const carol = await carolWith(chats)
  const { alice, bob, aliases } = chats
  await carol.calls.call(aliases[0])
  await alice.sees(/^• carol is calling\. A terminal cannot take calls\.$/)
  carol.calls.hangUp()
  await alice.sees(/^• Missed call from carol at \d\d:\d\d\.$/)
  await carol.person.client.close()
  await alice.leave()
  await bob.leave()
}, 240_000)

test('a call without encryption does not ring: the terminal tells who called, and why it was refused', async () => {
  const chats = await friends()
  const carol = await carolWith(chats)
  const { alice, bob, aliases } = chats
  const offer = { sdp: 'sdp of an older client', sdp_type: 'offer' }
  await carol.sendSignal('call_offer', { alias: aliases[0] }, 'unencrypted', offer)
  await alice.sees(
    /^• carol called at \d\d:\d\d with an app that does not encrypt calls\. The call was refused\.$/,
  )
  await carol.person.client.close()
  await alice.leave()
  await bob.leave()
}, 240_000)
