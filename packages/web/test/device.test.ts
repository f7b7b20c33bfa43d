// Stories of a device: everything on it moves to another one, and what it says of itself.
import { expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AppPerson } from './app-person.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()
const PASSPHRASE = 'plum otter canyon velvet'

/** Enters a new passphrase twice, in a section of the settings. */
async function entersTwice(person: AppPerson, label: string, action: string): Promise<void> {
  await person.page.getByLabel(label).fill(PASSPHRASE)
  await person.page.getByLabel(person.t.settings.passphraseAgain).fill(PASSPHRASE)
  await person.presses(action)
}

test('everything on a device moves to another one as an encrypted file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-app-'))
  const [alice, bob] = [await world.joins('Alice'), await world.joins('Bob')]
  await alice.befriends(bob)
  await alice.opens('Bob')
  await alice.writes('to be kept')
  await alice.sees('to be kept', { mark: 'delivered' })

  const { device, settings } = alice.t
  await alice.goesTo('#/settings/backup')
  const saving = alice.page.waitForEvent('download')
  await entersTwice(alice, device.backupPassphrase, device.backupDo)
  const saved = await saving
  const path = join(folder, saved.suggestedFilename())
  await saved.saveAs(path)
  expect(saved.suggestedFilename()).toMatch(/^sotto-\w+\.sotto$/)
  await alice.goesTo('#/settings/account')
  await alice.presses(settings.erase)
  await alice.presses(settings.eraseDo)
  await alice.presses(alice.t.welcome.importTitle)

  await alice.page.getByLabel(device.importFile, { exact: true }).setInputFiles(path)
  await alice.page.getByLabel(device.backupPassphrase).fill('another one')
  await alice.presses(device.importDo)
  await alice.reads(alice.t.errors.codes.WRONG_PASSPHRASE ?? '')
  await alice.page.getByLabel(device.backupPassphrase).fill(PASSPHRASE)
  await alice.presses(device.importDo)
  await alice.follows(alice.t.common.chats)
  await alice.opens('Bob')
  await alice.sees('to be kept')
  await alice.writes('from the file')
  await bob.opens('Alice')
  await bob.sees('from the file')
  await rm(folder, { recursive: true })
})

test('settings say what the app is, what the relay knows, and what is kept', async () => {
  const alice = await world.joins('Alice')
  const { device } = alice.t
  await alice.goesTo('#/settings/about')
  await alice.reads(device.knowsNot)
  await alice.page.getByText(/^[0-9a-f]{64}$/).waitFor()
  await alice.goesTo('#/settings/storage')
  await alice.reads(/are used on this device/)
  await alice.goesTo('#/settings/appearance')
  await alice.page.getByLabel('العربية').check()
  await alice.page.getByRole('heading', { name: 'المظهر' }).waitFor()
  await alice.page.locator('html[dir=rtl]').waitFor()
})
