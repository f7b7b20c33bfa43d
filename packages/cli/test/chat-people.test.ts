// People in a real chat: names in every command, blocks, errors in words, and texts that were taken back.
import { expect, test } from 'bun:test'
import { aliasIn, useChats } from './chat-world.ts'
import { TtyChat } from './terminals.ts'

const world = useChats()
const { friends, newHome, pipedAt } = world

test('every command takes the names that the others take, and blocked people are listed', async () => {
  const { alice, bob, aliases, homes } = await friends()
  alice.enter('/block bob')
  await alice.sees(/• Blocked bob \(u\d+\)/)
  alice.enter('/blocks')
  await alice.sees(new RegExp(`^ {2}${aliases[1]} +bob {2}\\(since \\d\\d:\\d\\d\\)`))
  alice.enter('/unblock nobody')
  await alice.sees(/Nobody is called nobody; \/blocks lists the people/)
  alice.enter('/unblock BO')
  await alice.sees(/• Unblocked bob \(u\d+\)/)
  alice.enter('/blocks')
  await alice.sees(/You have blocked nobody/)
  for (const chat of [alice, bob]) {
    chat.enter('/clear')
    await chat.seesNoMore(/be your friend|is your friend now/)
  }
  alice.enter(`/add ${aliases[1]}`)
  await bob.sees(/alice asks to be your friend/)
  bob.enter('/accept alice')
  await alice.sees(/bob \(\w+\) is your friend now/)
  alice.enter('/unfriend 1')
  await alice.sees(/• bob is no longer your friend/)
  // Somebody who is not in the list can be blocked by alias.
  alice.enter(`/block ${aliases[1]}`)
  await alice.sees(new RegExp(`• Blocked ${aliases[1]}\\.`))
  await alice.prompts(/^bob>/)
  await alice.leave()
  // Of people who left the list, the alias is known.
  const again = world.chatAt(homes[0])
  await again.sees(new RegExp(`^── ${aliases[1]} \\(${aliases[1]}\\) ──`))
  await again.prompts(new RegExp(`^${aliases[1]}>`))
  await again.leave()
  await bob.leave()
}, 60_000)

test('an alias that nobody has is told in words', async () => {
  const chat = pipedAt(newHome(), '--nickname', 'ann')
  await chat.sees(/Press Enter/)
  chat.enter('')
  await aliasIn(chat)
  chat.enter('/add nosuchalias')
  await chat.sees(/Nobody at this relay has the alias nosuchalias\./)
  chat.enter('/block nosuchalias')
  await chat.sees(/Nobody is called nosuchalias/)
  chat.enter('/unfriend nosuchalias')
  await chat.sees(/Nobody is called nosuchalias; \/friends lists/)
  expect(chat.output).not.toContain('NOT_FOUND')
  await chat.end()
}, 60_000)

test('a text that was taken back disappears from both screens, also where it is quoted', async () => {
  const { alice, bob } = await friends()
  const secret = `the secret ${'is long '.repeat(20)}enough for three rows`
  alice.enter(secret)
  await bob.sees(/#1 alice: the secret/)
  bob.enter('/reply 1 really?')
  await alice.sees(/↪ “the secret/)
  alice.enter('after it')
  await bob.sees(/#3 alice: after it/)
  alice.enter('/retract 1')
  await alice.sees(/• You took back #1\.$/)
  await bob.sees(/• alice took back #1\.$/)
  for (const chat of [alice, bob]) {
    await chat.seesNoMore(/the secret|is long|three rows/)
    await chat.sees(/#1 (alice|you): \(taken back\)$/)
    await chat.sees(/#2 (bob|you): ↪ “…” really\?$/)
    await chat.sees(/#3 (alice|you): after it$/)
  }
  await alice.leave()
  await bob.leave()
}, 60_000)

test('a text that has scrolled away is not claimed to be erased, and /clear erases it', async () => {
  const { alice, bob, homes } = await friends()
  await bob.leave()
  const small = new TtyChat(['--relay', world.relay.url, '--home', homes[1]], {}, 80, 8)
  await small.sees(/── alice/)
  alice.enter('the secret')
  await small.sees(/the secret/)
  for (let at = 2; at <= 10; at += 1) alice.enter(`line ${at}`)
  await small.sees(/line 10$/)
  alice.enter('/retract 1')
  await small.sees(/took back #1\. Its text may still be above/)
  expect(small.screen.text).toContain('the secret')
  small.enter('/clear')
  await small.seesNoMore(/the secret|line 10/)
  await small.prompts(/^alice>/)
  await small.leave()
  await alice.leave()
}, 60_000)

test('Tab completes commands and names, and a second Tab lists the choices', async () => {
  const { alice, bob } = await friends()
  alice.type('/unb\t')
  await alice.prompts(/^bob> \/unblock$/)
  alice.type('\u0015/unfriend b\t')
  await alice.prompts(/^bob> \/unfriend bob$/)
  alice.type('\u0015/re\t')
  await alice.prompts(/^bob> \/re$/)
  alice.type('\t')
  await alice.sees(/^\/reply {3}\/retract {3}\/reject/)
  await alice.leave()
  await bob.leave()
}, 60_000)
