// Stories of pictures and files.
import { expect, test } from 'bun:test'
import type { Locator } from 'playwright-core'
import { until } from '../../client/test/people.ts'
import type { AppPerson, GivenFile } from './app-person.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()

/** What a camera writes into its pictures. */
const PLACE = 'taken at 51.5 N 0.1 W'

/** A JPEG of a browser, with a comment that says where it was taken. */
async function photo(person: AppPerson, width: number, height: number): Promise<Buffer> {
  const drawn = await person.page.evaluate(
    async (size) => {
      const canvas = new OffscreenCanvas(size.width, size.height)
      const context = canvas.getContext('2d')
      if (!context) throw new Error('no canvas')
      context.fillStyle = 'teal'
      context.fillRect(0, 0, size.width, size.height / 2)
      const blob = await canvas.convertToBlob({ type: 'image/jpeg' })
      return [...new Uint8Array(await blob.arrayBuffer())]
    },
    { width, height },
  )
  const comment = Buffer.from([0xff, 0xfe, 0, PLACE.length + 2, ...Buffer.from(PLACE)])
  return Buffer.concat([Buffer.from(drawn.slice(0, 2)), comment, Buffer.from(drawn.slice(2))])
}

/** Chooses files and looks at what is asked before they are sent. */
async function chooses(person: AppPerson, ...files: readonly GivenFile[]): Promise<Locator> {
  await person.attaches(...files)
  const dialog = person.page.getByRole('dialog')
  await dialog.getByRole('button', { name: person.t.media.send, exact: true }).waitFor()
  return dialog
}

async function sends(person: AppPerson, ...files: readonly GivenFile[]): Promise<void> {
  const dialog = await chooses(person, ...files)
  await dialog.getByRole('button', { name: person.t.media.send, exact: true }).click()
}

/** Waits for the latest picture. */
async function picture(person: AppPerson): Promise<Locator> {
  const found = person.page.getByRole('button', { name: person.t.media.openPicture }).last()
  await found.waitFor()
  return found
}

/** Saves a file as the person does. */
async function saves(person: AppPerson, button: Locator): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([person.page.waitForEvent('download'), button.click()])
  return {
    name: download.suggestedFilename(),
    bytes: Buffer.from(await Bun.file(await download.path()).bytes()),
  }
}

/** Opens the latest picture, saves it, and closes the viewer by keyboard. */
async function savesPicture(person: AppPerson): Promise<{ name: string; bytes: Buffer }> {
  const button = await picture(person)
  await button.click()
  const viewer = person.page.getByRole('dialog', { name: person.t.media.viewer })
  const saved = await saves(person, viewer.getByRole('button', { name: person.t.media.save }))
  await person.page.keyboard.press('Escape')
  await viewer.waitFor({ state: 'hidden' })
  return saved
}

test('a picture is sent smaller and without its place, or as it is', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  await alice.opens('Bob')
  await bob.opens('Alice')
  const file = { name: 'holiday.jpg', mimeType: 'image/jpeg', buffer: await photo(alice, 2400, 1200) }

  await sends(alice, file)
  const shown = await picture(bob)
  const box = await shown.boundingBox()
  expect([box?.width, box?.height]).toEqual([320, 160])
  const smaller = await savesPicture(bob)
  expect(smaller.name).toMatch(/^sotto-\d{4}-\d\d-\d\d\.jpg$/)
  expect(smaller.bytes.includes(PLACE)).toBe(false)

  const dialog = await chooses(alice, file)
  await dialog.getByRole('radio', { name: alice.t.media.original }).check()
  await dialog.getByRole('button', { name: alice.t.media.send, exact: true }).click()
  await bob.page.getByRole('button', { name: bob.t.media.openPicture }).nth(1).waitFor()
  const original = await savesPicture(bob)
  expect(original.bytes.equals(file.buffer)).toBe(true)

  // What was downloaded is in memory only, so it is downloaded again.
  await bob.reloads()
  await picture(bob)
})

test('the viewer is used by keyboard, and gives the focus back', async () => {
  const [alice] = await world.withFriend('Alice', 'Bob')
  await alice.opens('Bob')
  await sends(alice, { name: 'a.jpg', mimeType: 'image/jpeg', buffer: await photo(alice, 1600, 1200) })
  const button = await picture(alice)
  await button.focus()
  await alice.page.keyboard.press('Enter')
  const image = alice.page.getByRole('img', { name: alice.t.media.picture })
  const widthOf = async (): Promise<number> => (await image.boundingBox())?.width ?? 0
  // The viewer loads the picture again. Until then the picture has no size.
  await until('the picture is there', () =>
    image.evaluate((each) => each instanceof HTMLImageElement && each.complete && each.naturalWidth > 0),
  )
  await alice.settles()
  const before = await widthOf()
  await alice.page.keyboard.press('+')
  await alice.settles()
  expect(await widthOf()).toBeCloseTo(before * 1.4, 0)
  await alice.page.keyboard.press('0')
  await alice.settles()
  expect(await widthOf()).toBeCloseTo(before, 0)
  await alice.page.keyboard.press('Escape')
  await image.waitFor({ state: 'hidden' })
  await until('the picture has the focus', () => button.evaluate((own) => own === document.activeElement))
})

test('a file arrives as it is, with a harmless name, and never runs', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  await alice.opens('Bob')
  await bob.opens('Alice')
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="document.title = 1"/>')
  const program = Buffer.from('MZ')
  await sends(
    alice,
    { name: 'plan.svg', mimeType: 'image/png', buffer: svg },
    { name: 'holiday\u202Egpj.exe', mimeType: 'image/jpeg', buffer: program },
  )
  // It has the type of a picture, but not its bytes.
  const plan = bob.page.getByRole('button', { name: bob.t.media.saveFile('plan.svg') })
  await plan.click()
  await bob.reads(bob.t.media.canRunTitle)
  const confirm = bob.page.getByRole('dialog').getByRole('button', { name: bob.t.media.save, exact: true })
  const saved = await saves(bob, confirm)
  expect(saved.name).toBe('plan.svg')
  expect(saved.bytes.equals(svg)).toBe(true)

  await bob.page.getByRole('button', { name: bob.t.media.saveFile('holidaygpj.exe') }).click()
  expect((await saves(bob, confirm)).name).toBe('holidaygpj.exe')
  expect(await bob.page.getByRole('button', { name: bob.t.media.openPicture }).count()).toBe(0)
})

test('a file that is dropped is asked for and sent as an answer', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  await alice.opens('Bob')
  await bob.opens('Alice')
  await bob.writes('Where is the report?')
  await (await alice.sees('Where is the report?')).hover()
  await alice.presses(alice.t.conversation.reply)
  await alice.page.evaluate(() => {
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File(['Nothing happened.'], 'report.txt'))
    for (const type of ['dragover', 'drop'])
      document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }))
  })
  // The button to send has the focus.
  const button = alice.page.getByRole('dialog').getByRole('button', { name: alice.t.media.send, exact: true })
  await button.waitFor()
  await alice.page.waitForFunction(() => document.activeElement?.classList.contains('button-primary'))
  await alice.page.keyboard.press('Enter')
  const answer = await bob.sees('report')
  await answer.getByText('Where is the report?').waitFor()
  const saved = await saves(bob, bob.page.getByRole('button', { name: bob.t.media.saveFile('report.txt') }))
  expect(saved.bytes.toString()).toBe('Nothing happened.')
})

test('a picture is taken by the camera, and the camera is off afterwards', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  await alice.opens('Bob')
  await bob.opens('Alice')
  await alice.presses(alice.t.conversation.attach)
  await alice.page.getByRole('menuitem', { name: alice.t.media.camera }).click()
  const take = alice.page.getByRole('button', { name: alice.t.media.takePicture })
  await alice.page.waitForFunction(() => document.querySelector('video')?.srcObject instanceof MediaStream)
  const stream = await alice.page.evaluateHandle(() => document.querySelector('video')?.srcObject)
  await take.click()
  await alice.page.getByRole('dialog').getByRole('button', { name: alice.t.media.send, exact: true }).click()
  await picture(bob)
  const states = await stream.evaluate((object) =>
    object instanceof MediaStream ? object.getTracks().map(({ readyState }) => readyState) : [],
  )
  expect(states).toEqual(['ended'])
})

test('media are removed from memory when asked for, and downloaded again', async () => {
  const [alice] = await world.withFriend('Alice', 'Bob')
  await alice.opens('Bob')
  await sends(alice, { name: 'a.jpg', mimeType: 'image/jpeg', buffer: await photo(alice, 1600, 1200) })
  await picture(alice)
  await alice.goesTo('#/settings/storage')
  await alice.presses(alice.t.device.storageClear)
  await alice.page.getByRole('button', { name: alice.t.device.storageClear }).waitFor({ state: 'detached' })
  const downloaded = alice.page.waitForResponse((response) => response.url().includes('/media'))
  await alice.goesTo('#/chats')
  await alice.opens('Bob')
  await downloaded
  await picture(alice)
})
