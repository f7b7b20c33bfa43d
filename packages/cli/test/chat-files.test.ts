// Files between real chats, and calls that a terminal misses.
import { expect, test } from 'bun:test'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MemoryStore, SottoClient } from '@sotto/client'
import { type CallPeer, Calls } from '@sotto/client/browser'
import { useChats } from './chat-world.ts'

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

  alice.enter('/send /no/such/file')
  await alice.sees(/There is no file \/no\/such\/file\./)
  alice.enter(`/send ${folder}`)
  await alice.sees(/is not a file\./)
  bob.enter('/save 7')
  await bob.sees(/There is no message 7\./)
  await alice.leave()
  await bob.leave()
}, 60_000)

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
}, 60_000)

test('a call that the terminal cannot take is told with the name of the caller, and then as missed', async () => {
  const { alice, bob, aliases } = await friends()
  const caller = await SottoClient.open({ relayUrl: world.relay.url, store: new MemoryStore() })
  await caller.create({ nickname: 'carol' })
  caller.connect()
  const calls = new Calls(caller, () => silentPeer)
  await caller.requestFriend(aliases[0])
  await alice.sees(/carol asks to be your friend/)
  const accepted = new Promise((resolve) => caller.on('friend_accepted', resolve))
  alice.enter('/accept carol')
  await accepted
  await calls.call(aliases[0])
  await alice.sees(/^• carol is calling\. A terminal cannot take calls\.$/)
  calls.hangUp()
  await alice.sees(/^• Missed call from carol at \d\d:\d\d\.$/)
  await caller.close()
  await alice.leave()
  await bob.leave()
}, 60_000)

/** A peer that offers a call and carries no media. */
const silentPeer: CallPeer = {
  createOffer: async () => 'sdp of an offer',
  createAnswer: async () => 'sdp of an answer',
  takeAnswer: async () => {},
  offerRestart: async () => 'sdp of a restart',
  answerRestart: async () => 'sdp of a restart',
  addCandidate: async () => {},
  sendUnder: async () => {},
  receiveUnder: async () => {},
  expect: () => {},
  setTrack: async () => {},
  close: () => {},
}
