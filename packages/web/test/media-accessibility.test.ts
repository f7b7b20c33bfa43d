// Barriers in pictures, files and voice messages, which the tour does not meet.
import { expect, test } from 'bun:test'
import { barriersIn } from './axe.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()

test.each([
  { theme: 'light', language: 'en' },
  { theme: 'dark', language: 'ar' },
] as const)('media have no barriers when chosen, recorded, shown and viewed: %o', async (options) => {
  const [phrase = ''] = await world.phrasesOfFriends('Alice', 'Bob')
  const alice = await world.recovered('Alice', phrase, options)
  const { media, common } = alice.t
  await alice.opens('Bob')
  const found: string[] = []
  const look = async (name: string): Promise<void> => {
    await alice.settles()
    for (const barrier of await barriersIn(alice.page)) found.push(`${name}: ${barrier}`)
  }
  const drawn = await alice.page.evaluate(async () => {
    const canvas = new OffscreenCanvas(600, 400)
    canvas.getContext('2d')
    return [...new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer())]
  })
  await alice.page.getByLabel(media.files).setInputFiles([
    { name: 'a.png', mimeType: 'image/png', buffer: Buffer.from(drawn) },
    { name: 'report.pdf', mimeType: 'application/pdf', buffer: Buffer.alloc(1000) },
  ])
  const send = alice.page.getByRole('dialog').getByRole('button', { name: media.send, exact: true })
  await send.waitFor()
  await look('chosen')
  await send.click()
  await alice.presses(media.record)
  await alice.page.getByRole('button', { name: media.sendVoice }).waitFor()
  await look('recorded')
  await alice.presses(media.sendVoice)
  await alice.page.getByRole('slider').waitFor()
  await look('in the conversation')
  await alice.presses(media.openPicture)
  await look('in the viewer')
  await alice.presses(common.close)
  await alice.presses(media.attach)
  await look('the menu')
  expect(found).toEqual([])
})
