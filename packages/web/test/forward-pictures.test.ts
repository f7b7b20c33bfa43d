// The story of pictures with keys of their own, in a narrow window and from right to left.
import { expect, test } from 'bun:test'
import { contentOf, Media, type StoredMessage } from '@sotto/client'
import { type Person, until } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import { secretFriends } from './secret-friend.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()
const WORDS = 'غروب الشمس في الميناء: https://example.org/harbour, at dusk'

/** A picture that a browser has drawn. */
async function drawn(person: AppPerson, width: number, height: number): Promise<Buffer> {
  const bytes = await person.page.evaluate(
    async (size) => {
      const canvas = new OffscreenCanvas(size.width, size.height)
      const context = canvas.getContext('2d')
      if (!context) throw new Error('no canvas')
      context.fillStyle = 'teal'
      context.fillRect(0, 0, size.width, size.height)
      context.fillStyle = 'gold'
      context.fillRect(size.width / 4, size.height / 4, size.width / 2, size.height / 2)
      const blob = await canvas.convertToBlob({ type: 'image/jpeg' })
      return [...new Uint8Array(await blob.arrayBuffer())]
    },
    { width, height },
  )
  return Buffer.from(bytes)
}

async function receives(person: Person, words: string): Promise<StoredMessage> {
  return until(`the words ${words}`, () => person.heard.message.find((each) => each.words === words))
}

test('a picture and a file have words below them, which are theirs in lists and for screen readers', async () => {
  const options = { language: 'ar', screen: 'phone' } as const
  const { person: alice, friend: bob, alias: toAlice } = await secretFriends(world, 'Alice', 'Bob', options)
  const { t } = alice
  const picture = new Blob([new Uint8Array(await drawn(alice, 1200, 800))])
  const details = { width: 1200, height: 800 }
  const media = new Media(bob.client)
  await media.sendImage(toAlice, picture, { isOriginal: true, details, words: WORDS })
  const shown = await alice.sees(WORDS)
  await shown.getByRole('button', { name: t.media.openPicture }).waitFor()
  expect(await shown.getAttribute('aria-label')).toContain(`${t.chats.image}: ${WORDS}`)
  const [image, words] = [shown.locator('.picture'), shown.locator('.bubble-text')]
  const [above, below] = [await image.boundingBox(), await words.boundingBox()]
  expect(below?.y).toBeGreaterThanOrEqual((above?.y ?? 0) + (above?.height ?? 0))
  expect(await alice.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
  await shown.getByRole('link', { name: 'https://example.org/harbour' }).waitFor()
  await shown.getByRole('button', { name: t.media.openPicture }).click()
  const viewer = alice.page.getByRole('dialog', { name: t.media.viewer })
  await viewer.getByRole('img', { name: WORDS }).waitFor()
  await alice.page.keyboard.press('Escape')

  // From a tab that asks another one to send.
  await alice.comes()
  await alice.opens('Bob')
  for (const file of [
    { name: 'own.jpg', mimeType: 'image/jpeg', buffer: await drawn(alice, 300, 600) },
    { name: 'own.txt', mimeType: 'text/plain', buffer: Buffer.from('the plan') },
  ]) {
    await alice.attaches(file)
    const dialog = alice.page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: t.media.caption }).fill(` for ${file.name} `)
    await dialog.getByRole('button', { name: t.media.send, exact: true }).click()
    const sent = await receives(bob, `for ${file.name}`)
    expect(contentOf(sent)?.kind).toBe(file.mimeType === 'image/jpeg' ? 'image' : 'file')
    await alice.sees(`for ${file.name}`)
  }
  expect(bob.heard.message.filter(({ text }) => text.includes('for own'))).toEqual([])
  await alice.page.goBack()
  await alice.seesInList('Bob', `${t.chats.file}: own.txt: for own.txt`)
  expect(bob.heard.error).toEqual([])
  await bob.client.close()
})
