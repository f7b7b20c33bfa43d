// The story of files with keys of their own: sent by the app from any tab, through a reload, and received.
import { expect, test } from 'bun:test'
import { contentOf, Media, type StoredMessage } from '@sotto/client'
import { parseSealedFile } from '@sotto/crypto'
import { type Person, until } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import { secretFriends } from './secret-friend.ts'
import { AppWorld } from './world.ts'

const MIB = 1024 * 1024
const world = new AppWorld()

async function sends(person: AppPerson, name: string, text: string): Promise<void> {
  await person.attaches({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })
  const dialog = person.page.getByRole('dialog')
  await dialog.getByRole('button', { name: person.t.media.send, exact: true }).click()
}

async function saves(person: AppPerson, name: string): Promise<string> {
  const button = person.page.getByRole('button', { name: person.t.media.saveFile(name) })
  const [download] = await Promise.all([person.page.waitForEvent('download'), button.click()])
  return Bun.file(await download.path()).text()
}

/** Waits for a file with a key of its own, and returns what is in it. */
async function opens(person: Person, name: string): Promise<string> {
  const message = await until(`${name} arrives`, (): StoredMessage | undefined =>
    person.heard.message.find(({ caption }) => caption === name),
  )
  const content = contentOf(message)
  if (content?.kind !== 'file') throw new Error('a file was sent')
  expect(parseSealedFile(content.mediaKey)?.sizeBytes).toBe(content.sizeBytes)
  const { data } = await new Media(person.client).download(message.conversationId, content)
  return data.text()
}

test('a file has its own key, from any tab and through a reload, and what comes is saved', async () => {
  const { person: alice, friend: bob, alias: toAlice } = await secretFriends(world, 'Alice', 'Bob')
  const { client } = bob
  await new Media(client).sendFile(toAlice, new Blob(['the plan']), { name: 'plan.txt' })
  await alice.sees('plan')
  expect(await saves(alice, 'plan.txt')).toBe('the plan')

  const parts: string[] = []
  const { promise: held, resolve } = Promise.withResolvers<void>()
  let isHolding = true
  await alice.context.route(/\/chunk\?/, async (route) => {
    const part = new URL(route.request().url()).searchParams.get('partNumber') ?? ''
    if (part === '2' && isHolding) return resolve()
    parts.push(`${part} ${route.request().postDataBuffer()?.length}`)
    await route.continue()
  })
  const long = 'long '.repeat(MIB + 20)
  await sends(alice, 'long.txt', long)
  await held
  isHolding = false
  await alice.reloads()
  expect(await opens(bob, 'long.txt')).toBe(long)
  // Part 1 is not sent again, so its key is the same. No chunk has the size that version 1 gives it.
  expect(parts).toEqual([`1 ${5 * MIB + 16}`, expect.stringMatching(/^2 /)])

  await alice.comes()
  await alice.opens('Bob')
  await sends(alice, 'second-tab.txt', 'from the second tab')
  expect(await opens(bob, 'second-tab.txt')).toBe('from the second tab')
  await alice.sees('second-tab')
  expect(await saves(alice, 'second-tab.txt')).toBe('from the second tab')
  expect(bob.heard.error).toEqual([])
  await client.close()
})
