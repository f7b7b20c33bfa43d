// The app as a relay serves it: it works offline, and goes to a new version without losing what was typed or
// a part of the old one.
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { cp, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import type { Page } from 'playwright-core'
import { finishBuild } from '../../../scripts/web-app/finish-build.ts'
import { sharedChromium } from '../../client/test/browser/shared-chromium.ts'
import { Person, until } from '../../client/test/people.ts'
import { makeProcessFolder } from '../../client/test/process-folder.ts'
import { AppPerson } from './app-person.ts'
import { Barriers } from './axe.ts'
import { builtApp } from './built-app.ts'

setDefaultTimeout(240_000)

let folder = ''
let relay: RelayProcess
const people: AppPerson[] = []

beforeAll(async () => {
  folder = join(await makeProcessFolder('versions'), 'app')
  await cp(builtApp(), folder, { recursive: true })
  relay = await startRelay({ env: { APP_DIR: folder } })
})
afterEach(async () => {
  for (const person of people.splice(0)) {
    await person.context.close()
    expect(person.complaints).toEqual([])
  }
})
afterAll(() => relay?.stop())

async function somebody(): Promise<AppPerson> {
  const context = await (await sharedChromium()).newContext(AppPerson.settings({}))
  const person = new AppPerson('Alice', context, relay.url)
  people.push(person)
  await person.comes()
  return person
}

/** Resolves when the app is complete on the device. */
async function kept(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready
    const { active } = await navigator.serviceWorker.ready
    if (active?.state === 'activated') return
    await new Promise((resolve) => active?.addEventListener('statechange', resolve, { once: true }))
  })
}

/** The caches with a version of the app. */
function versions(page: Page): Promise<string[]> {
  return page.evaluate(async () => (await caches.keys()).filter((name) => name.startsWith('sotto-app-')))
}

/** Puts a new version into the folder: each script has another name, and those of the old one are gone. */
async function deploy(version: string): Promise<void> {
  const assets = join(folder, 'assets')
  for (const name of await readdir(assets, { recursive: true })) {
    if (!name.endsWith('.js')) continue
    await rename(join(assets, name), join(assets, name.replace(/\.js$/, `${version}.js`)))
  }
  const names = (await readdir(assets)).filter((name) => name.endsWith(`${version}.js`))
  for (const path of ['index.html', ...names.map((name) => `assets/${name}`)]) {
    let text = await readFile(join(folder, path), 'utf8')
    for (const name of names) text = text.replaceAll(name.replace(`${version}.js`, '.js'), name)
    await writeFile(join(folder, path), text)
  }
  await finishBuild(folder)
  await relay.kill('SIGTERM')
  await relay.start()
}

test('the app opens without a network once it is kept on the device', async () => {
  const alice = await somebody()
  await kept(alice.page)
  await alice.goesOffline()
  await alice.reloads()
  await alice.reads(alice.t.welcome.create)
})

test('the icon of the app shows how many messages are unread', async () => {
  const [first, second] = [await Person.join('Alice', relay.url), await Person.join('Bob', relay.url)]
  const conversation = await first.befriend(second)
  const phrase = await first.client.recoveryPhrase()
  await first.client.close()
  const alice = await somebody()
  alice.expects(/status of 409 .*register/)
  // A browser without a window has no icon to show a number on.
  await alice.page.evaluate(() => {
    navigator.setAppBadge = async (count) => {
      document.documentElement.dataset.badge = String(count)
    }
  })
  await alice.recovers(phrase)
  for (const text of ['one', 'two']) await second.client.send(conversation, text)
  await alice.page.waitForFunction(() => document.documentElement.dataset.badge === '2')
  await alice.opens('Bob')
  await alice.page.waitForFunction(() => document.documentElement.dataset.badge === '0')
  await second.client.close()
})

test('an update while a draft is open keeps the draft, and the old version works until then', async () => {
  const [first, second] = [await Person.join('Alice', relay.url), await Person.join('Bob', relay.url)]
  await first.befriend(second)
  const phrase = await first.client.recoveryPhrase()
  for (const { client } of [first, second]) await client.close()

  const alice = await somebody()
  alice.expects(/net::ERR_|WebSocket connection to .* failed|status of 409 .*register/)
  await kept(alice.page)
  await alice.recovers(phrase)
  await alice.opens('Bob')
  await alice.types('Not finished')
  const [before] = await versions(alice.page)

  await deploy('-next')
  await alice.page.evaluate(async () => (await navigator.serviceWorker.ready).update())
  await alice.reads(alice.t.updates.ready)
  const barriers = new Barriers()
  await barriers.lookAt(alice, 'an update')
  expect(barriers.found).toEqual([])
  expect(await versions(alice.page)).toHaveLength(2)
  // The server has no part of the old version any more, and neither has the browser's own cache.
  const browser = await alice.context.newCDPSession(alice.page)
  await browser.send('Network.clearBrowserCache')
  await alice.follows(alice.t.common.contacts)
  await alice.follows(alice.t.contacts.add)
  await alice.page.getByLabel(alice.t.contacts.aliasLabel).waitFor()
  await alice.page.goBack()
  await alice.page.goBack()
  await alice.types('Not finished, but more')

  const loaded = alice.page.waitForEvent('load')
  await alice.presses(alice.t.updates.update)
  await loaded
  await alice.finds('Not finished, but more')
  const script = await alice.page.locator('script[type=module]').getAttribute('src')
  expect(script).toEndWith('-next.js')
  await alice.reloads()
  await alice.field.waitFor()
  await until('the old version is gone', async () => !(await versions(alice.page)).includes(before ?? ''))
})
