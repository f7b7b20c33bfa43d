// A tour through what people see before they have an account, while the relay does not answer, and after it
// has answered with an error.
import type { AppStage } from './app-stage.ts'
import type { PersonOptions } from './browser-person.ts'
import type { Look } from './tour.ts'
import { TALK } from './tour-talk.ts'

/** Shows it all to `look`. */
export async function tourOfWaits(stage: AppStage, options: PersonOptions, look: Look): Promise<void> {
  await tourOfStart(stage, options, look)
  await tourOfAnswers(stage, options, look)
}

async function tourOfStart(stage: AppStage, options: PersonOptions, look: Look): Promise<void> {
  const person = await stage.stranger(TALK[options.language ?? 'en'].me, options)
  const { page, context } = person
  const { welcome, common } = person.t

  await page.route(/\/health$/, (route) => route.fulfill({ status: 404, json: {} }))
  await page.evaluate(() => localStorage.clear())
  await person.reloads()
  const relay = page.getByLabel(welcome.relayLabel)
  await relay.waitFor()
  await person.settles()
  await look(person, 'relay-choice')
  await relay.fill(stage.relay.url)
  await person.presses(welcome.goOn)
  await person.reads(welcome.relayNone)
  await look(person, 'relay-choice-wrong')
  await page.unroute(/\/health$/)
  await person.presses(welcome.goOn)

  // Never answered: the account is not needed.
  await page.route(/\/register$/, () => {})
  await person.presses(welcome.create)
  await page.getByLabel(welcome.nicknameLabel).fill(person.name)
  await person.presses(welcome.create)
  await person.reads(welcome.steps.register)
  await look(person, 'registering')

  person.expectsInterruptions()
  await context.addInitScript(() => {
    IDBFactory.prototype.open = () => {
      throw new DOMException('no database', 'UnknownError')
    }
  })
  await person.reloads()
  await person.reads(common.failedTitle)
  await look(person, 'start-failed')
}

async function tourOfAnswers(stage: AppStage, options: PersonOptions, look: Look): Promise<void> {
  const person = await stage.joins(TALK[options.language ?? 'en'].me, options)
  const { page, t } = person
  const { common, invitation, shop, contacts } = t
  const loading = page.locator('.app-detail').getByText(common.loading)
  person.expects(/status of (?:404|500)/)

  /** Goes to a place whose answer does not come, then comes as an error. */
  const waits = async (name: string, path: RegExp, place: string, failed: string): Promise<void> => {
    const held = Promise.withResolvers<void>()
    await page.route(path, async (route) => {
      await held.promise
      await route.fulfill({ status: 500, json: {} })
    })
    await page.evaluate((to) => {
      location.hash = to
    }, place)
    await loading.waitFor()
    // The screen itself waits now, and not for its script.
    await page.locator('.app-detail h1').waitFor()
    await look(person, `${name}-loading`)
    held.resolve()
    // On a phone the list is hidden, which may have failed as well.
    await page.locator('.app-detail').getByText(failed).waitFor()
    await person.settles()
    await look(person, `${name}-unreadable`)
    await page.unroute(path)
  }
  await waits('invitation', /\/users\//, `#/add/somebody_else`, invitation.failed)
  await person.goesTo('#/add/nobody_has_this')
  await person.reads(contacts.nobody)
  await look(person, 'invitation-of-nobody')
  await waits('shop', /\/vanity\/search/, '#/shop/alias/a_fine_name', common.unreadable)
  await waits('orders', /\/vanity\/orders/, '#/shop/orders', common.unreadable)

  for (const status of ['confirmed', 'expired'] as const) {
    const order = {
      ...{ order_id: `ord_${'o'.repeat(22)}`, kind: 'vanity', ref_id: 'a_fine_name', status, price_usdt: 9 },
      ...{ pay_to: '', payment_url: stage.relay.url, methods: [] },
      ...{ created_at: '2026-01-01T00:00:00.000Z', expired_at: '2026-01-01T00:15:00.000Z' },
    }
    await page.route(/\/vanity\/orders/, (route) => route.fulfill({ json: [order] }))
    await person.goesTo('#/shop')
    await person.goesTo(`#/shop/orders/${order.order_id}`)
    await page.locator('.shop-state').getByText(shop.states[status]).waitFor()
    await look(person, `order-${status}`)
    await page.unroute(/\/vanity\/orders/)
  }
}
