// The first start of a chat at a relay that asks for an invite, and at one that takes nobody.
import { expect, test } from 'bun:test'
import { startRelay } from '@sotto/relay/testing'
import { aliasIn, useChats } from './chat-world.ts'
import { sotto } from './run-sotto.ts'

const world = useChats({ REGISTRATION: 'invite' })
const { newHome, chatAt, pipedAt } = world

async function newCode(): Promise<string> {
  return JSON.parse((await sotto('invites', 'make', '--json', '--data-dir', world.relay.dataDir)).output).code
}

test('it asks for an invite before the nickname, and again for one that is refused', async () => {
  const [used, good] = [await newCode(), await newCode()]
  const first = pipedAt(newHome(), '--nickname', 'first', '--invite', used, '--phrase-file', newHome())
  await first.sees(/alias u\d{8}/)
  expect(await first.end()).toBe(0)

  const chat = chatAt(newHome())
  await chat.prompts(/\[n\]ew identity/)
  chat.enter('n')
  await chat.prompts(/asks for an invite/)
  chat.enter('please let me in')
  await chat.sees(/This is no invite/)
  await chat.prompts(/asks for an invite/)
  chat.enter(used)
  await chat.prompts(/Your nickname/)
  chat.enter('bob')
  await chat.sees(/This invite is unknown, used up/)
  await chat.prompts(/asks for an invite/)
  chat.enter(`${world.relay.url}/#/invite/${good}`)
  await chat.prompts(/Your nickname/)
  chat.enter('bob')
  await chat.prompts(/once you have written them down/)
  chat.enter('')
  expect(await aliasIn(chat)).toMatch(/^u\d{8}$/)
  await chat.leave()
}, 240_000)

test('without a person to ask, it says what is missing', async () => {
  const args = ['chat', '--relay', world.relay.url, '--nickname', 'eve', '--home']
  const missing = await sotto(...args, newHome())
  expect(missing).toMatchObject({
    ...{ code: 1, errors: 'sotto: this relay asks for an invite: --invite LINK\n' },
  })
  const wrong = await sotto(...args, newHome(), '--invite', 'two words')
  expect(wrong.errors).toBe('sotto: --invite takes the link or the code of an invite\n')
  const relay = await startRelay({ env: { REGISTRATION: 'closed' } })
  const closed = await sotto('chat', '--relay', relay.url, '--nickname', 'eve', '--home', newHome())
  await relay.stop()
  expect(closed.errors).toBe(
    'sotto: this relay takes no new accounts; an existing one is recovered by its 12 words\n',
  )
}, 240_000)
