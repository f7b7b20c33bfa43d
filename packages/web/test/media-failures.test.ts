// Stories of media that fail: a relay without room, media that are gone, and what a hostile friend sends.
import { expect, test } from 'bun:test'
import { Media } from '@sotto/client'
import { Person } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import { AppWorld } from './world.ts'

const ROOM_BYTES = 300_000
const world = new AppWorld({ MEDIA_TOTAL_BYTES: String(ROOM_BYTES) })

/** A friend who uses the library, and sends what no app would. */
async function hostileFriend(): Promise<{ alice: AppPerson; mallory: Person; alias: string }> {
  const [account, mallory] = await Promise.all(
    ['Alice', 'Mallory'].map((name) => Person.join(name, world.relay.url)),
  )
  if (!account || !mallory) throw new Error('both have joined')
  await account.befriend(mallory)
  const alias = account.client.identity?.aliasId ?? ''
  const phrase = await account.client.recoveryPhrase()
  await account.client.close()
  return { alice: await world.recovered('Alice', phrase), mallory, alias }
}

test('a relay without room says so, and the user tries again or gives up', async () => {
  const [alice] = await world.withFriend('Alice', 'Bob')
  alice.expects(/status of 507/)
  await alice.opens('Bob')
  const { media, common } = alice.t
  const buffer = Buffer.alloc(ROOM_BYTES + 1)
  await alice.attaches({ name: 'large.zip', mimeType: 'application/zip', buffer })
  await alice.page.getByRole('dialog').getByRole('button', { name: media.send, exact: true }).click()
  const uploads = alice.page.getByRole('list', { name: media.uploads })
  await uploads.getByText(media.codes.RELAY_FULL ?? '').waitFor()
  await uploads.getByRole('button', { name: common.tryAgain }).click()
  await uploads.getByText(media.codes.RELAY_FULL ?? '').waitFor()
  await uploads.getByRole('button', { name: media.forget('large.zip') }).click()
  await uploads.waitFor({ state: 'hidden' })
})

test('a page, a bomb and a broken picture are files, and nothing of them runs', async () => {
  const { alice, mallory, alias } = await hostileFriend()
  const media = new Media(mallory.client)
  const page = '<!doctype html><script>document.title = "run"</script>'
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>document.title = "run"</script></svg>'
  const png = '\x89PNG\r\n\x1a\n\0\0\0\rIHDR'
  // 65,535 pixels squared, and a small one that ends too early.
  const bomb = Buffer.from(`${png}\0\0\xff\xff\0\0\xff\xff\x08\x06\0\0\0`, 'latin1')
  const broken = Buffer.from(`${png}\0\0\0\x40\0\0\0\x40\x08\x06\0\0\0`, 'latin1')
  const images = [Buffer.from(page), Buffer.from(svg), bomb, broken]
  for (const image of images)
    await media.sendImage(alias, new Blob([image]), {
      isOriginal: true,
      details: { width: 400, height: 300 },
    })
  await alice.opens('Mallory')
  const saves = alice.page.getByRole('button', { name: /^Save sotto-/ })
  await saves.nth(images.length - 1).waitFor()
  expect(await alice.page.getByRole('button', { name: alice.t.media.openPicture }).count()).toBe(0)
  expect(await alice.page.title()).not.toBe('run')

  const name = '../\u202Efdp.hta'
  await media.sendFile(alias, new Blob([page]), { name })
  await alice.page.getByRole('button', { name: alice.t.media.saveFile('fdp.hta') }).click()
  await alice.reads(alice.t.media.canRun('fdp.hta'))
  await mallory.client.close()
})

test('media that are gone, altered or unproven are said to be', async () => {
  const { alice, mallory, alias } = await hostileFriend()
  alice.expects(/status of 404/)
  const media = new Media(mallory.client)
  const { mediaKey, sizeBytes } = await media.upload(alias, new Blob(['Half of it.']))
  const [bare = ''] = mediaKey.split('.h')
  const send = (name: string, key: string) =>
    mallory.client.send(alias, { kind: 'file', mediaKey: key, name, sizeBytes })
  await send('gone.txt', `m_${'x'.repeat(bare.length - 2)}`)
  await send('altered.txt', `${bare}.h${'A'.repeat(mediaKey.length - bare.length - 2)}`)
  await send('unproven.txt', bare)
  await alice.opens('Mallory')
  const { codes, saveFile, unproven } = alice.t.media
  for (const [name, words] of [
    ['gone.txt', codes.NOT_FOUND],
    ['altered.txt', codes.MEDIA_ALTERED],
    ['unproven.txt', unproven],
  ] as const) {
    await alice.page.getByRole('button', { name: saveFile(name) }).click()
    await (await alice.sees(name.slice(0, -4))).getByText(words ?? '').waitFor()
  }
  await mallory.client.close()
})
