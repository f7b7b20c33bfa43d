// The admin page of a relay of two nodes, in Chromium: it shows both, and says which one is silent.
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { wireAccount } from '@sotto/relay/testing/wire'
import { engines } from '../../relay/test/engines.ts'
import { AdminStage } from './admin-world.ts'

setDefaultTimeout(240_000)
const stage = new AdminStage()
let other: RelayProcess | undefined
afterAll(async () => {
  await stage.stop()
  await other?.stop()
})

test('both nodes are shown in both languages, their connections are added up, and a killed one is named', async () => {
  const postgres = engines.find(({ name }) => name === 'PostgreSQL')
  const env = { ...(await postgres?.environment()) }
  await stage.start(env)
  other = await startRelay({ env })
  await (await wireAccount(other.url)).connect()
  const place = new RegExp(`:${new URL(other.url).port}$`)
  const operators = [await stage.enters({ language: 'en' }), await stage.enters({ language: 'ar' })]
  for (const { page, t } of operators) {
    const { status } = t.admin
    const title = new RegExp(`^${status.node('')}.*${place.source}`)
    const card = page.locator('section.card', { has: page.getByRole('heading', { name: title }) })
    await card.getByText(status.nodeStates.alive, { exact: true }).first().waitFor()
    const total = page.locator('section.card', {
      has: page.getByRole('heading', { name: status.relay, exact: true }),
    })
    const digit = new Intl.NumberFormat(t === operators[1]?.t ? 'ar' : 'en').format(1)
    await total.getByText(digit, { exact: true }).first().waitFor()
  }
  await other.kill('SIGKILL')
  for (const { page } of operators)
    await page
      .locator('.admin-warnings')
      .getByText(`:${new URL(other.url).port} `)
      .waitFor()
  expect(await stage.part()).toEqual([])
})
