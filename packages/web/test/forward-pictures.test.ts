// The story of pictures with keys of their own, in a narrow window and from right to left.
import { expect, test } from 'bun:test'
import { contentOf, Media, type StoredMessage } from '@sotto/client'
import { type Person, until } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import { secretFriends } from './secret-friend.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()
const MIB = 1024 * 1024
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

/** The same picture in a file of so many bytes: a JPEG may have anything behind its end. */
function padded(picture: Buffer, bytes: number): Buffer {
  return Buffer.concat([picture, Buffer.alloc(bytes - picture.length)])
}

function blobOf(bytes: Buffer): Blob {
  return new Blob([new Uint8Array(bytes)])
}

test('pictures and files have words below them, and a large picture is seen by its preview', async () => {
  const options = { language: 'ar', screen: 'phone' } as const
  const { person: alice, friend: bob, alias: toAlice } = await secretFriends(world, 'Alice', 'Bob', options)
  const { t } = alice
  const picture = blobOf(await drawn(alice, 1200, 800))
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
  await alice.opens('Bob')

  // The app makes a preview of a picture of more than half a megabyte.
  const large = padded(await drawn(alice, 1000, 500), MIB)
  await alice.attaches({ name: 'large.jpg', mimeType: 'image/jpeg', buffer: large })
  const dialog = alice.page.getByRole('dialog')
  await dialog.getByRole('radio', { name: t.media.original }).check()
  await dialog.getByRole('textbox', { name: t.media.caption }).fill('large')
  await dialog.getByRole('button', { name: t.media.send, exact: true }).click()
  const sent = await receives(bob, 'large')
  const content = contentOf(sent)
  if (content?.kind !== 'image' || content.previewKey === undefined) throw new Error('it has a preview')
  const { data } = await media.download(sent.conversationId, { mediaKey: content.previewKey })
  const size = await alice.page.evaluate(
    async (bytes) => {
      const { width, height } = await createImageBitmap(new Blob([new Uint8Array(bytes)]))
      return [width, height]
    },
    [...new Uint8Array(await data.arrayBuffer())],
  )
  expect(size).toEqual([640, 320])

  // Of a picture that is not loaded unasked, the preview is shown. One that is no small picture is not.
  const asked: string[] = []
  alice.page.on('request', (request) => asked.push(decodeURIComponent(request.url())))
  const huge = blobOf(padded(await drawn(alice, 1200, 800), 10 * MIB + 1))
  const how = { isOriginal: true, details }
  const preview = blobOf(await drawn(alice, 640, 427))
  const { mediaUrl = '' } = await media.sendImage(toAlice, huge, { ...how, preview, words: 'shown small' })
  const small = await alice.sees('shown small')
  await small.locator('img.picture-image').waitFor()
  const load = small.locator('.picture-again')
  await load.waitFor()
  const wide = blobOf(await drawn(alice, 1400, 10))
  await media.sendImage(toAlice, huge, { ...how, preview: wide, words: 'too wide' })
  await (await alice.sees('too wide')).getByText(t.media.noPreview).waitFor()
  const downloads = (): string[] => asked.filter((url) => url.includes(mediaUrl.split('#')[0] ?? ''))
  expect(downloads()).toEqual([])
  await load.click()
  await small.getByRole('button', { name: t.media.openPicture }).waitFor()
  expect(downloads()).not.toEqual([])
  expect(bob.heard.error).toEqual([])
  await bob.client.close()
})
