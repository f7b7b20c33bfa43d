// What a person types and pastes into a real chat: long pastes, line breaks, completion.
import { expect, test } from 'bun:test'
import { useChats } from './chat-world.ts'

const { friends, chatAt, newHome } = useChats()
const paste = (text: string): string => `\u001b[200~${text}\u001b[201~`

test('a paste of 10,000 characters is inserted as one piece, and sent as one message', async () => {
  const { alice, bob } = await friends()
  alice.type(paste(`${'wörd '.repeat(2000)}END`))
  await alice.prompts(/END$/)
  // The line was drawn for the paste as a whole, not for each of its characters.
  expect(alice.raw.split('wörd wörd').length).toBeLessThan(200)
  alice.enter('')
  await bob.sees(/END$/)
  await alice.leave()
  await bob.leave()
}, 240_000)

test('a paste that is too long for a message is refused in one line, and the chat goes on', async () => {
  const { alice, bob } = await friends()
  alice.type('before ')
  alice.type(paste('0123456789'.repeat(8000)))
  await alice.sees(/^! This line would have 80,007 bytes, and at most 48,000 are allowed/)
  await alice.prompts(/^bob> before$/)
  alice.enter('after')
  await bob.sees(/alice: before after$/)
  // Without the marks of a paste every character is a key. The line fills up, and the refusal comes once.
  alice.type('0123456789'.repeat(8000))
  await alice.sees(/would have 48,001 bytes/)
  alice.type('\u0015')
  await alice.prompts(/^bob>$/)
  alice.enter('still here')
  await bob.sees(/still here/)
  expect(alice.screen.lines.filter((line) => line.includes('would have 48,001 bytes')).length).toBe(1)
  await alice.leave()
  await bob.leave()
}, 240_000)

test('Ctrl-C and SIGTERM end the chat in the middle of a paste that never ends', async () => {
  const { alice, bob } = await friends()
  alice.type(`\u001b[200~${'x'.repeat(80_000)}`)
  expect(await alice.leave()).toBe(0)
  bob.type(`\u001b[200~${'x'.repeat(80_000)}`)
  bob.process.kill('SIGTERM')
  expect(await bob.process.exited).toBe(0)
}, 240_000)

test('SIGTERM and Ctrl-C end the chat while it asks its first questions', async () => {
  const first = chatAt(newHome())
  await first.prompts(/\[n\]ew identity/)
  first.process.kill('SIGTERM')
  expect(await first.process.exited).toBe(0)
  const second = chatAt(newHome())
  await second.prompts(/\[n\]ew identity/)
  expect(await second.leave()).toBe(0)
}, 240_000)

test('a pasted end of line sends nothing, and is no part of the message', async () => {
  const { alice, bob } = await friends()
  alice.type(paste('pasted\r\nlines\r\n'))
  await alice.prompts(/^bob> pasted⏎lines⏎$/)
  expect(alice.screen.text).not.toContain('you:')
  alice.enter('')
  await bob.sees(/alice: pasted$/)
  await bob.sees(/^ +│ lines$/)
  alice.enter('next')
  await bob.sees(/alice: next$/)
  expect(bob.screen.lines.filter((line) => line.includes('│')).length).toBe(1)
  await alice.leave()
  await bob.leave()
}, 240_000)
