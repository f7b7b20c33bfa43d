// How a chat starts when something is wrong: no relay, a damaged home.
import { expect, test } from 'bun:test'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { aliasIn, useChats } from './chat-world.ts'
import { TtyChat } from './terminals.ts'

const world = useChats()
const { newHome, chatAt, pipedAt } = world

/** Makes an account in a new home. @returns the home, the path of its store, and the alias */
async function newAccount(): Promise<{ home: string; store: string; alias: string; phrase: string }> {
  const home = newHome()
  const phrase = `${home}.phrase`
  const chat = pipedAt(home, '--nickname', 'dora', '--phrase-file', phrase)
  const alias = await aliasIn(chat)
  await chat.sees(/• connected/)
  expect(await chat.end()).toBe(0)
  const [folder = ''] = await readdir(home)
  return { home, store: join(home, folder, 'store.log'), alias, phrase }
}

async function overwrite(store: string, line: (text: string, at: number) => string): Promise<void> {
  const lines = (await readFile(store, 'utf8')).split('\n')
  await writeFile(store, lines.map(line).join('\n'))
}

test('without a relay, the first start says so before it asks anything', async () => {
  const chat = new TtyChat(['--relay', 'http://127.0.0.1:1', '--home', newHome()])
  expect(await chat.process.exited).toBe(1)
  await chat.sees(/no relay answers at http:\/\/127\.0\.0\.1:1\//)
  expect(chat.screen.text).not.toMatch(/ew identity|nickname/)
  chat.process.terminal?.close()
}, 240_000)

test('a home whose identity is damaged is not greeted as a new one, and the words recover it', async () => {
  const { home, store, alias, phrase } = await newAccount()
  await overwrite(store, (text, at) => (at === 0 ? text : text.replace(/[a-z]/g, 'x')))
  // Without a person to ask, nothing is registered over it.
  const piped = pipedAt(home, '--nickname', 'eve')
  await piped.sees(/store of this chat is damaged/)
  expect(await piped.process.exited).toBe(1)

  const chat = chatAt(home)
  await chat.sees(/^! The store of this chat was damaged/)
  await chat.sees(/store\.log\.damaged-[0-9a-f]{8}/)
  await chat.sees(/the damaged file stays\.$/)
  expect(chat.screen.text).not.toContain('Welcome to Sotto')
  await chat.prompts(/\[n\]ew identity, or \[r\]ecover/)
  chat.enter('r')
  await chat.prompts(/12 words/)
  chat.enter((await readFile(phrase, 'utf8')).trim())
  expect(await aliasIn(chat)).toBe(alias)
  await chat.leave()
  expect((await readdir(join(store, '..'))).filter((name) => name.includes('damaged'))).toHaveLength(1)
}, 240_000)

test('a home that is damaged elsewhere is told once, and goes on', async () => {
  const { home, store, alias } = await newAccount()
  const lines = (await readFile(store, 'utf8')).split('\n')
  await writeFile(store, [lines[0], 'damaged', ...lines.slice(1)].join('\n'))
  const chat = chatAt(home)
  await chat.sees(/^! The store of this chat is damaged:$/)
  await chat.sees(/Nothing else is to be done/)
  expect(await aliasIn(chat)).toBe(alias)
  await chat.leave()
  const again = chatAt(home)
  expect(await aliasIn(again)).toBe(alias)
  expect(again.screen.text).not.toContain('damaged')
  await again.leave()
}, 240_000)
