// Stories of what leaves a conversation: forwarded to others, or copied.
import { expect, test } from 'bun:test'
import { contentOf, Media } from '@sotto/client'
import { type Person, until } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import { isTold, keepNotices } from './told.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()

/** A small PNG, as a browser draws it. */
async function drawing(person: AppPerson): Promise<Blob> {
  const bytes = await person.page.evaluate(async () => {
    const canvas = new OffscreenCanvas(60, 40)
    canvas.getContext('2d')?.fillRect(0, 0, 30, 40)
    return [...new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer())]
  })
  return new Blob([new Uint8Array(bytes)])
}

/** What the latest messages of a friend are, in order. */
async function kindsAt(friend: Person, alias: string): Promise<readonly (string | undefined)[]> {
  return (await friend.client.messages(alias)).map((message) => contentOf(message)?.kind)
}

test('a picture, words and a file are forwarded to two others, in order', async () => {
  const { person: alice, friends, alias } = await world.withFriends('Alice', 'Bob', 'Carol', 'Dave')
  const [bob, carol, dave] = friends
  if (!bob || !carol || !dave) throw new Error('all have joined')
  const picture = await drawing(alice)
  const media = new Media(bob.client)
  const details = { width: 60, height: 40 }
  await media.sendImage(alias, picture, { isOriginal: true, details })
  await bob.client.send(alias, 'the plan of it:')
  await media.sendFile(alias, new Blob(['Water first.']), { name: 'plan.txt' })
  const t = alice.t.conversation
  await alice.opens('Bob')
  await alice.sees('plan')
  await alice.does(t.select, 'the plan of it:')
  for (const box of await alice.page.getByRole('checkbox', { name: t.select }).all()) await box.check()
  await alice.presses(t.forward)
  const dialog = alice.page.getByRole('dialog')
  for (const name of ['Carol', 'Dave']) await dialog.getByRole('checkbox', { name }).check()
  await dialog.getByRole('button', { name: t.forward }).click()
  await isTold(alice, t.forwarding('Carol and Dave'))
  for (const friend of [carol, dave]) {
    await until('all has come', async () => (await kindsAt(friend, alias)).length === 3)
    expect(await kindsAt(friend, alias)).toEqual(['image', 'text', 'file'])
    const [image, , file] = (await friend.client.messages(alias)).map(contentOf)
    if (image?.kind !== 'image' || file?.kind !== 'file') throw new Error('they have media')
    expect(image).toMatchObject(details)
    expect(file.name).toBe('plan.txt')
    const download = async (content: typeof image | typeof file): Promise<string> =>
      (await new Media(friend.client).download(alias, content)).data.text()
    expect(await download(image)).toBe(await picture.text())
    expect(await download(file)).toBe('Water first.')
  }
  for (const friend of friends) await friend.client.close()
})

test('a picture that is gone is not forwarded, which is said where it was to go', async () => {
  const { person: alice, friends, alias } = await world.withFriends('Alice', 'Bob', 'Carol')
  alice.expects(/status of 404/)
  const [bob, carol] = friends
  const mediaKey = `m_${'x'.repeat(22)}`
  await bob?.client.send(alias, { kind: 'file', mediaKey, name: 'gone.txt', sizeBytes: 9 })
  await alice.opens('Bob')
  await keepNotices(alice.page)
  await alice.does(alice.t.conversation.forward, 'gone')
  const dialog = alice.page.getByRole('dialog')
  await dialog.getByRole('checkbox', { name: 'Carol' }).check()
  await dialog.getByRole('button', { name: alice.t.conversation.forward }).click()
  // Another notice, which leads there too, has said that it is being forwarded.
  const notSent = alice.page.locator('.notice').filter({ hasText: alice.t.conversation.notSent })
  await notSent.getByRole('button', { name: alice.t.conversation.open }).click()
  const uploads = alice.page.getByRole('list', { name: alice.t.media.uploads })
  await uploads.getByText(alice.t.media.codes.NOT_FOUND ?? '').waitFor()
  await carol?.client.close()
  await bob?.client.close()
})

test('a picture is copied as PNG', async () => {
  const [alice, bob, toAlice] = await world.withFriend('Alice', 'Bob')
  await new Media(bob.client).sendImage(toAlice, await drawing(alice), {
    isOriginal: true,
    details: { width: 60, height: 40 },
  })
  await alice.opens('Bob')
  const shown = alice.page.getByRole('article').filter({
    has: alice.page.getByRole('button', { name: alice.t.media.openPicture }),
  })
  await shown.hover()
  await alice.page
    .getByRole('list')
    .getByRole('button', { name: alice.t.conversation.actions, exact: true })
    .click()
  await alice.choosesFromMenu(alice.t.conversation.copyPicture)
  await isTold(alice, alice.t.common.copied)
  const size = await alice.page.evaluate(async () => {
    const [item] = await navigator.clipboard.read()
    const bitmap = item && (await createImageBitmap(await item.getType('image/png')))
    return [bitmap?.width, bitmap?.height]
  })
  expect(size).toEqual([60, 40])
  await bob.client.close()
})
