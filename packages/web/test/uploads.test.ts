// Stories of several files at once, and of uploads that outlive the page.
import { expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { until } from '../../client/test/people.ts'
import type { AppPerson, GivenFile } from './app-person.ts'
import { AppWorld } from './world.ts'

const MIB = 1024 * 1024
const world = new AppWorld({ LIMIT_MEDIA_BYTES: String(8 * MIB) })

const textFile = (name: string, text: string): GivenFile => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.from(text),
})

/** Chooses files and looks at the tray in which they wait. */
async function chooses(person: AppPerson, ...files: readonly GivenFile[]): Promise<Locator> {
  await person.attaches(...files)
  const tray = person.page.getByRole('dialog')
  await tray.getByRole('button', { name: person.t.media.send, exact: true }).waitFor()
  return tray
}

async function saved(person: AppPerson, name: string): Promise<string> {
  const button = person.page.getByRole('button', { name: person.t.media.saveFile(name) })
  const [download] = await Promise.all([person.page.waitForEvent('download'), button.click()])
  return Bun.file(await download.path()).text()
}

interface HeldUpload {
  /** The numbers of the parts that were let through. */
  readonly parts: readonly string[]
  /** Resolves once the held part is on its way. */
  readonly held: Promise<void>
  /** Holds nothing from now on. What was held never arrives. */
  letGo(): void
}

/** Holds back the part of uploads that has this number. */
async function holdsPart(person: AppPerson, number: string): Promise<HeldUpload> {
  const parts: string[] = []
  const { promise: held, resolve } = Promise.withResolvers<void>()
  let isHolding = true
  await person.context.route(/\/chunk\?/, async (route) => {
    const part = new URL(route.request().url()).searchParams.get('partNumber') ?? ''
    if (part === number && isHolding) return resolve()
    parts.push(part)
    await route.continue()
  })
  return {
    parts,
    held,
    letGo: () => {
      isHolding = false
    },
  }
}

/** Waits until pages of the browser hold the locks of so many uploads. Returns their names. */
async function locksOfUploads(page: Page, count: number): Promise<readonly string[]> {
  return page.evaluate(async (wanted) => {
    for (;;) {
      const { held = [] } = await navigator.locks.query()
      const names = held.flatMap(({ name = '' }) => (name.startsWith('sotto upload ') ? [name] : []))
      if (names.length === wanted) return names
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }, count)
}

/** Waits until a page waits for the lock of an upload whose name begins so. */
async function waitsForUpload(page: Page, begins: string): Promise<void> {
  await until(`a page waits for ${begins}`, () =>
    page.evaluate(async (start) => {
      const { pending = [] } = await navigator.locks.query()
      return pending.some(({ name }) => name?.startsWith(start))
    }, begins),
  )
}

/** Waits until so many files are kept on the device, so that the page can be left. */
async function keeps(person: AppPerson, count: number): Promise<void> {
  await person.page.evaluate(async (wanted) => {
    const countKept = async (): Promise<number> => {
      let kept = 0
      const root = await navigator.storage.getDirectory()
      for await (const handle of (await root.getDirectoryHandle('sotto-uploads')).values())
        if (handle instanceof FileSystemFileHandle && (await handle.getFile()).size > 0) kept += 1
      return kept
    }
    const orNone = (error: unknown): number => {
      // The folder is not there yet, or a file that was listed is gone again.
      if (error instanceof DOMException && error.name === 'NotFoundError') return 0
      throw error
    }
    while ((await countKept().catch(orNone)) < wanted) await new Promise((resolve) => setTimeout(resolve, 20))
  }, count)
}

test('several files have one caption, come in order, and one that fails loses none of the others', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  alice.expects(/status of 413/)
  await alice.opens('Bob')
  await bob.opens('Alice')
  const t = alice.t.media
  const tray = await chooses(
    alice,
    textFile('one.txt', 'first'),
    textFile('not-this.txt', 'private'),
    { name: 'large.zip', mimeType: 'application/zip', buffer: Buffer.alloc(9 * MIB) },
    textFile('two.txt', 'second'),
  )
  await tray.getByRole('button', { name: t.remove('not-this.txt') }).click()
  await tray.getByLabel(t.caption).fill('What you asked for:')
  await tray.getByRole('button', { name: t.send, exact: true }).click()
  await bob.sees('two')
  const articles = bob.page.getByRole('article')
  expect(await articles.count()).toBe(3)
  expect(await articles.first().innerText()).toContain('What you asked for:')
  expect([await saved(bob, 'one.txt'), await saved(bob, 'two.txt')]).toEqual(['first', 'second'])

  const uploads = alice.page.getByRole('list', { name: t.uploads })
  await uploads.getByText(t.codes.PAYLOAD_TOO_LARGE ?? '').waitFor()
  // It stays until the person gives it up, also through a reload.
  await alice.reloads()
  await uploads.getByText(t.codes.PAYLOAD_TOO_LARGE ?? '').waitFor()
  await uploads.getByRole('button', { name: t.forget('large.zip') }).click()
  await uploads.waitFor({ state: 'hidden' })
  await alice.reloads()
  await alice.sees('two')
  expect(await uploads.count()).toBe(0)
})

test('an upload continues after a reload where it was, without being asked for', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  await alice.opens('Bob')
  await bob.opens('Alice')
  const t = alice.t.media
  // The second part of the file does not arrive before the reload.
  const { parts, held, letGo } = await holdsPart(alice, '2')
  const text = 'long '.repeat((5 * MIB) / 5 + 20)
  const tray = await chooses(alice, textFile('long.txt', text), textFile('after.txt', 'next'))
  await tray.getByRole('button', { name: t.send, exact: true }).click()
  await held
  expect(parts).toEqual(['1'])
  await keeps(alice, 2)
  // What is kept can be left without a question.
  alice.page.on('dialog', (dialog) => alice.complaints.push(`asked: ${dialog.message()}`))
  letGo()
  await alice.reloads()
  await bob.sees('after')
  expect(parts).toEqual(['1', '2', '1'])
  expect(await saved(bob, 'long.txt')).toBe(text)
  expect(await saved(bob, 'after.txt')).toBe('next')
  await alice.page.getByRole('list', { name: t.uploads }).waitFor({ state: 'hidden' })
})

test('what continues after a reload comes in the order in which it was chosen', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  await alice.opens('Bob')
  await bob.opens('Alice')
  const { held, letGo } = await holdsPart(alice, '1')
  const send = { name: alice.t.media.send, exact: true }
  await (await chooses(alice, textFile('first.txt', 'one'))).getByRole('button', send).click()
  await held
  // Another page of the browser gets the lock of the first file when the app is reloaded, before the app.
  const other = await alice.context.newPage()
  await other.goto(`${world.relay.url}/licences.json`)
  const [first = ''] = await locksOfUploads(other, 1)
  await (await chooses(alice, textFile('second.txt', 'two'))).getByRole('button', send).click()
  await keeps(alice, 2)
  const holding = other.evaluate(
    (name) =>
      navigator.locks.request(
        name,
        () => new Promise<void>((resolve) => Reflect.set(globalThis, 'letGo', resolve)),
      ),
    first,
  )
  letGo()
  await alice.reloads()
  await waitsForUpload(alice.page, first)
  await alice.writes('typed meanwhile')
  await bob.sees('typed meanwhile')
  expect(await bob.page.getByRole('article').count()).toBe(1)
  await other.evaluate(() => Reflect.get(globalThis, 'letGo')())
  await holding
  await bob.sees('second')
  const names = await bob.page.getByRole('article').allInnerTexts()
  expect(names.map((text) => /typed|first|second/.exec(text)?.[0])).toEqual(['typed', 'first', 'second'])
})

test('another device stops an upload, which goes on where it was once this one is used again', async () => {
  const [phrase = '', bobs = ''] = await world.phrasesOfFriends('Alice', 'Bob')
  const [alice, bob] = [await world.recovered('Alice', phrase), await world.recovered('Bob', bobs)]
  await alice.opens('Bob')
  await bob.opens('Alice')
  const { parts, held, letGo } = await holdsPart(alice, '2')
  const text = 'long '.repeat((5 * MIB) / 5 + 20)
  const tray = await chooses(alice, textFile('long.txt', text), textFile('after.txt', 'next'))
  await tray.getByRole('button', { name: alice.t.media.send, exact: true }).click()
  await held
  const stopped = alice.page.waitForEvent('requestfailed', (request) => /partNumber=2/.test(request.url()))
  const elsewhere = await world.recovered('Alice', phrase)
  await stopped
  await alice.reads(alice.t.common.replacedTitle)
  const uploads = alice.page.getByRole('list', { name: alice.t.media.uploads })
  await uploads.getByText(alice.t.media.waitsForHere).nth(1).waitFor()
  letGo()
  await elsewhere.opens('Bob')
  await elsewhere.writes('from the other device')
  await bob.sees('from the other device')
  expect(parts).toEqual(['1'])
  expect(await bob.page.getByRole('article').count()).toBe(1)
  expect(await alice.page.getByRole('article').count()).toBe(0)

  await alice.presses(alice.t.common.useHere)
  await elsewhere.reads(elsewhere.t.common.replacedTitle)
  await bob.sees('after')
  expect(parts).toEqual(['1', '2', '1'])
  expect(await saved(bob, 'long.txt')).toBe(text)
  expect(await saved(bob, 'after.txt')).toBe('next')
  await uploads.waitFor({ state: 'hidden' })
})

test('the lock stops an upload, which goes on once the app is unlocked', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  await alice.setsPassphrase('several words drawn by lot')
  await alice.goesTo('#/chats')
  await alice.opens('Bob')
  await bob.opens('Alice')
  const { held, letGo } = await holdsPart(alice, '1')
  const tray = await chooses(alice, textFile('report.txt', 'Nothing happened.'))
  await tray.getByRole('button', { name: alice.t.media.send, exact: true }).click()
  await held
  await alice.locks()
  letGo()
  await alice.unlocks('several words drawn by lot')
  await bob.sees('report')
  expect(await saved(bob, 'report.txt')).toBe('Nothing happened.')
})

test('a tab that opens deletes no file that another tab has begun to send meanwhile', async () => {
  const [alice, bob] = await world.friends('Alice', 'Bob')
  await alice.opens('Bob')
  await bob.opens('Alice')
  const { held, letGo } = await holdsPart(alice, '1')
  const send = { name: alice.t.media.send, exact: true }
  await (await chooses(alice, textFile('first.txt', 'one'))).getByRole('button', send).click()
  await held
  await keeps(alice, 1)
  const sending = alice.page
  await alice.context.addInitScript(holdLists)
  await alice.comes()
  const opening = alice.page
  await opening.waitForFunction(() => 'goOn' in globalThis)
  alice.looksAt(sending)
  await (await chooses(alice, textFile('second.txt', 'two'))).getByRole('button', send).click()
  await keeps(alice, 2)
  await goesOn(opening)
  // Once it waits to take over the first file, it has looked at all files.
  await waitsForUpload(opening, 'sotto upload ')
  await opening.close()
  letGo()
  await alice.reloads()
  await goesOn(alice.page)
  await bob.sees('second')
  expect(await saved(bob, 'second.txt')).toBe('two')
})

/** In the page: lists the files of a folder only once `goOn` is called. */
function holdLists(): void {
  // The empty page before the app has no folders.
  if (!isSecureContext) return
  const { keys } = FileSystemDirectoryHandle.prototype
  Reflect.set(FileSystemDirectoryHandle.prototype, 'keys', async function* (this: FileSystemDirectoryHandle) {
    await new Promise<void>((resolve) => Reflect.set(globalThis, 'goOn', resolve))
    yield* keys.call(this)
  })
}

async function goesOn(page: Page): Promise<void> {
  await page.waitForFunction(() => 'goOn' in globalThis)
  await page.evaluate(() => Reflect.get(globalThis, 'goOn')())
}
