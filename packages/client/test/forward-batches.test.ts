// Messages of version 3 that waited are stored many at a time. A process that is killed around such a write
// loses none, shows none twice, and has confirmed none that it had not stored.
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StoredMessage } from '../src/client.ts'
import { forwardSecrecy } from '../src/forward-secrecy/entry.ts'
import { FileStore } from '../src/stores/file-store.ts'
import { untilVersion3 } from './forward-people.ts'
import type { ReaderLine } from './killed-reader.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const SCRIPT = join(import.meta.dir, 'killed-reader.ts')
const WAITING = 80

const world = new PeopleWorld()
const root = await mkdtemp(join(tmpdir(), 'sotto-batches-'))
afterAll(() => rm(root, { recursive: true }))

/** Two friends who speak version 3; the second one is closed, and its store is in a folder. */
async function friendsOf(name: string): Promise<{ alice: Person; bob: string; folder: string }> {
  const folder = join(root, name)
  const options = { forwardSecrecy: forwardSecrecy() }
  const alice = await world.join('alice', options)
  const bob = await world.join('bob', { ...options, store: await FileStore.open(folder) })
  await alice.befriend(bob)
  await untilVersion3(alice, bob)
  await bob.client.close()
  return { alice, bob: bob.alias, folder }
}

/** Sends texts. Resolves when the relay has them. */
async function sendAll(person: Person, contact: string, texts: readonly string[]): Promise<void> {
  await Promise.all(texts.map((text) => person.client.send(contact, text)))
  await until('the relay has all', async () =>
    (await person.client.messages(contact, { limit: texts.length })).every(
      ({ status }) => status !== 'sending',
    ),
  )
}

/** What is in the history of a closed store, the oldest first. */
async function historyIn(folder: string, conversation: string): Promise<StoredMessage[]> {
  const store = await FileStore.open(folder)
  const messages = await store.listMessages(conversation)
  await store.close()
  return messages.filter(({ isMe, version }) => !isMe && version === 3)
}

async function read(folder: string, endAt: number, when: string, lastText: string) {
  const command = [process.execPath, SCRIPT, world.relay.url, folder, String(endAt), when, lastText]
  const child = Bun.spawn(command, { stdout: 'pipe' })
  const printed = (await new Response(child.stdout).text()).trim().split('\n')
  await child.exited
  const lines = printed.filter(Boolean).map((line): ReaderLine => JSON.parse(line))
  return {
    signal: child.signalCode,
    writes: lines.flatMap((line) => ('writes' in line ? [line.writes] : [])),
    shows: lines.flatMap((line) => ('shows' in line ? [line.shows] : [])),
    tells: lines.flatMap((line) => ('tells' in line ? [line.tells] : [])),
  }
}

test('a process killed before or after a write of many messages loses none and shows none twice', async () => {
  const { alice, bob, folder } = await friendsOf('killed')
  const { conversationId } = await alice.client.conversation(bob)
  const before = (await historyIn(folder, conversationId)).length
  const [sent, shown]: [string[], string[]] = [[], []]
  let most = 0
  const rounds = [1, 2].flatMap((endAt) => [
    { endAt, when: 'before' },
    { endAt, when: 'after' },
  ])
  for (const { endAt, when } of [...rounds, { endAt: 0, when: 'never' }]) {
    const texts = Array.from({ length: WAITING }, (_, at) => `${at} ${when} write ${endAt}`)
    await sendAll(alice, bob, texts)
    sent.push(...texts)
    const { signal, writes, shows, tells } = await read(folder, endAt, when, texts.at(-1) ?? '')
    if (endAt > 0) most = Math.max(most, writes.at(-1) ?? 0)
    expect(tells).toEqual([])
    shown.push(...shows)
    // It may have come to its end with fewer writes.
    if (signal !== null) expect(signal).toBe('SIGKILL')
    const stored = (await historyIn(folder, conversationId)).slice(before).map(({ text }) => text)
    expect(stored).toEqual(sent.slice(0, stored.length))
    const delivered = (await alice.client.messages(bob, { limit: sent.length })).filter(
      ({ status }) => status === 'delivered',
    )
    expect(delivered.filter(({ text }) => sent.includes(text) && !stored.includes(text))).toEqual([])
  }
  const stored = (await historyIn(folder, conversationId)).slice(before).map(({ text }) => text)
  expect(stored).toEqual(sent)
  expect(new Set(shown).size).toBe(shown.length)
  // A kill met a write of many.
  expect(most).toBeGreaterThan(1)
})
