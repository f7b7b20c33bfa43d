// Real chats, in pseudo-terminals or over pipes, and a real relay between them.
import { expect, test } from 'bun:test'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import vectors from '../../../vectors/crypto.json'
import { wireAccount } from '../../relay/test/wire.ts'
import { aliasIn, useChats } from './chat-world.ts'
import { PipedChat, TtyChat } from './terminals.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: colour sequences begin with one
const COLOURS = /\u001b\[[0-9;]*m/

const world = useChats()
const { newHome, chatAt, friends } = world

test('two new users become friends and chat with marks, typing notices, replies and retractions', async () => {
  const home = newHome()
  const alice = chatAt(home)
  await alice.prompts(/\[n\]ew identity, or \[r\]ecover/)
  alice.enter('n')
  await alice.prompts(/nickname/)
  alice.enter('alice')
  await alice.sees(/ 1\. \w+ +2\. \w+ +3\. \w+/)
  await alice.sees(/Write these 12 words down/)
  await alice.prompts(/Press Enter/)
  alice.enter('')
  await alice.sees(/▀|▄|█/)
  const aliceAlias = await aliasIn(alice)
  await alice.sees(/• connected/)
  // The words were on a screen of their own, and have not stayed on this one or above it.
  expect(alice.screen.text).not.toMatch(/ 1\. \w+|12 words down/)

  const bob = chatAt(newHome(), {}, '--nickname', 'bob')
  await bob.prompts(/Press Enter/)
  bob.enter('')
  await bob.sees(/• connected/)
  bob.enter(`/add ${aliceAlias}`)
  await alice.sees(/bob asks to be your friend/)
  alice.enter('/accept')
  await bob.prompts(/^alice>/)

  alice.enter('hello bob')
  await bob.sees(/\d\d:\d\d .*#1 alice: hello bob$/)
  // Bob has the conversation open, so he reads the message at once. Alice's mark changes in place.
  await alice.sees(/\d\d:\d\d ✓✓ #1 you: hello bob$/)
  await alice.writes('\u001b[94m✓✓')

  bob.type('I am wri')
  await alice.writes('bob is typing…')
  alice.enter('are you?')
  await bob.sees(/#2 alice: are you\?/)
  // The incoming message was printed above the typed line, which did not change.
  await bob.prompts(/^alice> I am wri$/)
  bob.enter('ting')
  await alice.sees(/#3 bob: I am writing$/)
  await alice.seesNoMore(/is typing/)

  alice.enter('/reply 3 I see')
  await bob.sees(/↪ “I am writing” I see/)
  alice.enter('/retract')
  await bob.sees(/alice took back #4/)

  alice.enter('/code')
  const code = (await alice.sees(/^ {4}[0-9a-f]{4} [0-9a-f]{4}/)).trim()
  bob.enter('/code')
  await bob.sees(new RegExp(code))
  bob.enter('/trust')
  await bob.sees(/verified, on your word/)
  bob.enter('/friends')
  await bob.sees(/alice.*\(verified\)/)

  expect(await alice.leave()).toBe(0)
  expect(await bob.leave()).toBe(0)
  const [folder = ''] = await readdir(home)
  expect((await stat(join(home, folder))).mode & 0o777).toBe(0o700)
  for (const file of await readdir(join(home, folder)))
    expect((await stat(join(home, folder, file))).mode & 0o777).toBe(0o600)
}, 240_000)

test('messages that arrived while the chat was closed are shown when it is opened again', async () => {
  const { alice, bob, aliases, homes: places } = await friends()
  bob.enter('/quit')
  expect(await bob.process.exited).toBe(0)
  for (const text of ['one', 'two', 'three']) alice.enter(text)
  await alice.sees(/✓ +#3 you: three/)
  const again = chatAt(places[1])
  await again.sees(/── alice/)
  await again.sees(/#3 alice: three/)
  await alice.sees(/✓✓ #3 you: three/)
  expect(again.screen.text).not.toContain('recovery phrase')
  expect(aliases[0]).toMatch(/^u\d+$/)
  await again.leave()
  await alice.leave()
}, 240_000)

test('with several friends, the start lists the senders of new messages, and /with opens a chat', async () => {
  const { alice, bob, aliases, homes: places } = await friends()
  const carol = new PipedChat(['--relay', world.relay.url, '--home', newHome(), '--nickname', 'carol'])
  await carol.sees(/Press Enter/)
  carol.enter('')
  const carolAlias = await aliasIn(carol)
  carol.enter(`/add ${aliases[1]}`)
  await bob.sees(/carol asks/)
  bob.enter(`/accept ${carolAlias}`)
  await carol.sees(/bob \(\w+\) is your friend now/)
  bob.enter('/quit')
  await bob.process.exited
  alice.enter('hi from alice')
  carol.enter('hi from carol')
  carol.enter('and again')
  await carol.sees(/#2 sent/)
  await alice.sees(/✓/)
  const again = chatAt(places[1])
  await again.sees(/New messages: .*2 from carol/)
  await again.sees(/New messages: .*1 from alice/)
  await again.prompts(/^>/)
  again.enter(`/with ${carolAlias}`)
  await again.sees(/── 2 new ──/)
  await again.sees(/carol: and again/)
  await carol.sees(/#2 read/)
  alice.enter('once more')
  await again.sees(/2 new from alice: \/with/)
  again.enter('/with alice')
  await again.sees(/alice: once more/)
  expect(await carol.end()).toBe(0)
  await again.leave()
  await alice.leave()
}, 240_000)

test('the chat reports a lost connection, and sends messages that were typed meanwhile after reconnecting', async () => {
  const { alice, bob } = await friends()
  await world.relay.kill('SIGKILL')
  await alice.sees(/connection lost, reconnecting…/)
  alice.enter('into the void')
  await alice.sees(/… +#1 you: into the void/)
  await world.relay.start()
  await bob.sees(/alice: into the void/)
  await alice.sees(/✓✓ #1 you: into the void/)
  await alice.leave()
  await bob.leave()
}, 240_000)

test("a friend's message can neither send control codes to the terminal nor look like another line", async () => {
  const { alice, bob, aliases, homes: places } = await friends()
  await bob.leave()
  const piped = new PipedChat(['--relay', world.relay.url, '--home', places[1]])
  await piped.sees(/── alice/)
  piped.enter('\u001b[2J\u001b[31mred\u0007 \u202egnp.exe\u202c \u009b5A ok')
  await alice.sees(/bob: \ufffd\[2J\ufffd\[31mred\ufffd gnp\.exe \ufffd5A ok/)
  expect(alice.raw).not.toContain('\u001b[31m')
  expect(alice.raw).not.toContain('\u202e')
  piped.enter('/nick \u202eevil')
  await piped.end()
  expect(aliases[1]).toMatch(/^u\d+$/)
  await alice.leave()
}, 240_000)

test('without colours, a read message is marked by a word', async () => {
  const { alice, bob } = await friends({ NO_COLOR: '1' })
  alice.enter('plain')
  await alice.sees(/read #1 you: plain/)
  expect(alice.raw).not.toMatch(COLOURS)
  await alice.leave()
  await bob.leave()
}, 240_000)

test('pasted text of several lines becomes one message', async () => {
  const { alice, bob } = await friends()
  alice.type('\u001b[200~first\rsecond\u001b[201~')
  await alice.prompts(/first⏎second/)
  alice.enter('')
  await bob.sees(/alice: first$/)
  await bob.sees(/^ +│ second$/)
  await alice.leave()
  await bob.leave()
}, 240_000)

test('a long line scrolls within its row, even in a narrow terminal', async () => {
  const { alice, bob, homes: places } = await friends()
  await bob.leave()
  const narrow = new TtyChat(['--relay', world.relay.url, '--home', places[1]], {}, 30, 10)

  await narrow.sees(/── alice/)
  const long = `${'x'.repeat(100)}end`
  narrow.type(long)
  await narrow.prompts(/^alice> x+end$/)
  expect(narrow.screen.cursor.line.length).toBeLessThan(30)
  narrow.type('\u0001')
  await narrow.prompts(/^alice> x+$/)
  narrow.enter('')
  await alice.sees(/x{50,}/)
  await narrow.leave()
  await alice.leave()
}, 240_000)

test('an identity is recovered from its words, typed or in a file, and the first device is notified', async () => {
  const phraseFile = join(world.root, 'phrase')
  const first = new PipedChat([
    '--relay',
    world.relay.url,
    '--home',
    newHome(),
    '--nickname',
    'dora',
    '--phrase-file',
    phraseFile,
  ])
  const alias = await aliasIn(first)
  expect((await stat(phraseFile)).mode & 0o777).toBe(0o600)
  const words = (await readFile(phraseFile, 'utf8')).trim()
  expect(first.output).not.toContain(words.split(' ').slice(0, 3).join(' '))
  // Wait, so that the second device connects later than the first: the relay disconnects the earlier one.
  await first.sees(/• connected/)

  const second = chatAt(newHome())
  await second.prompts(/\[r\]ecover/)
  second.enter('r')
  second.enter('these are not the words')
  await second.sees(/not the 12 words/)
  second.enter(words)
  await second.sees(/Welcome back, dora/)
  expect(second.screen.text).not.toContain(words.slice(0, 12))
  expect(await aliasIn(second)).toBe(alias)
  await first.sees(/connected from another device/)
  await second.leave()
  await first.end()

  const third = new PipedChat(['--relay', world.relay.url, '--home', newHome(), '--phrase-file', phraseFile])
  expect(await aliasIn(third)).toBe(alias)
  await third.end()

  await writeFile(phraseFile, 'twelve wrong words')
  const fourth = new PipedChat(['--relay', world.relay.url, '--home', newHome(), '--phrase-file', phraseFile])
  expect(await fourth.process.exited).toBe(1)
}, 240_000)

test('an account of an older client is recovered, and one whose key the words do not give is refused', async () => {
  const [older, stranger] = vectors.identities
  if (!older || !stranger) throw new Error('two identities are needed')
  const { url } = world.relay
  const { alias } = await wireAccount(url, 'older', {
    ed25519PrivateHex: older.ed25519_private_hex,
    x25519: older.x25519_index_1_public_b64,
  })
  const phraseFile = join(world.root, 'phrase of an older client')
  const args = (): string[] => ['--relay', url, '--home', newHome(), '--phrase-file', phraseFile]
  await writeFile(phraseFile, older.mnemonic)
  const chat = new PipedChat(args())
  await chat.sees(/Welcome back, older/)
  expect(await aliasIn(chat)).toBe(alias)
  await chat.end()

  await wireAccount(url, 'stranger', {
    ed25519PrivateHex: stranger.ed25519_private_hex,
    x25519: older.x25519_public_b64,
  })
  await writeFile(phraseFile, stranger.mnemonic)
  const refused = new PipedChat(args())
  expect(await new Response(refused.process.stderr).text()).toContain('another key for this account')
  expect(await refused.process.exited).toBe(1)
}, 240_000)

test('piped lines are sent before the chat exits', async () => {
  const { alice, bob, homes: places } = await friends()
  await bob.leave()
  const piped = new PipedChat(['--relay', world.relay.url, '--home', places[1]])
  await piped.sees(/• connected/)
  for (let at = 1; at <= 20; at += 1) piped.enter(`line ${at}`)
  expect(await piped.end()).toBe(0)
  await alice.sees(/bob: line 20$/)
  await alice.leave()
}, 240_000)

test('a killed chat sends its unsent messages once after it is started again', async () => {
  const { alice, bob, homes: places } = await friends()
  await bob.leave()
  const piped = new PipedChat(['--relay', world.relay.url, '--home', places[1]])
  await piped.sees(/• connected/)
  await world.relay.kill('SIGKILL')
  await piped.sees(/connection lost/)
  for (const text of ['first', 'second']) piped.enter(text)
  await piped.sees(/you: second/)
  piped.process.kill('SIGKILL')
  await piped.process.exited
  await world.relay.start()
  const again = new PipedChat(['--relay', world.relay.url, '--home', places[1]])
  await alice.sees(/bob: second$/)
  await again.sees(/#2 read/)
  expect(alice.screen.lines.filter((line) => /bob: (first|second)$/.test(line)).length).toBe(2)
  await again.end()
  await alice.leave()
}, 240_000)

test('characters of any width and script can be typed and are shown', async () => {
  const { alice, bob } = await friends()
  const text = 'naïve 日本語 👍🏽 עברית'
  alice.type(text)
  await alice.prompts(/naïve/)
  alice.enter('')
  await bob.sees(new RegExp(`alice: ${text}$`))
  await alice.leave()
  await bob.leave()
}, 240_000)

test('a second chat in the same folder is refused', async () => {
  const home = newHome()
  const first = chatAt(home)
  await first.prompts(/\[r\]ecover/)
  const second = new PipedChat(['--relay', world.relay.url, '--home', home])
  expect(await second.process.exited).toBe(1)
  expect(await new Response(second.process.stderr).text()).toMatch(
    /^sotto: another "sotto chat" is using .*\n$/,
  )
  expect(await first.leave()).toBe(0)
}, 240_000)

test('an unreachable relay is reported in one line', async () => {
  const chat = new PipedChat(['--relay', 'http://127.0.0.1:1', '--home', newHome(), '--nickname', 'x'])
  expect(await chat.process.exited).toBe(1)
  expect(await new Response(chat.process.stderr).text()).toMatch(
    /^sotto: no relay answers at http:\/\/127.0.0.1:1\//,
  )
}, 240_000)
