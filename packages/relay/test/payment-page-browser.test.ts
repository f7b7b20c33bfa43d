// The payment page in a real browser, on a phone and on a desktop: what a payer sees, hears and copies, and
// how the page follows the payment.
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { sharedChromium } from '../../client/test/browser/shared-chromium.ts'
import type { Arrival, PaymentState, PaymentView } from '../src/payments/payment-page/payment-view.ts'
import { HOSTED_PAGE, PaymentWorld, WAITING } from './payment-page-world.ts'

setDefaultTimeout(240_000)

/** How often an open page requests the state of its order. */
const REFRESH_MS = 3000

const devices: [string, BrowserContextOptions][] = [
  ['a phone', { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }],
  ['a desktop', { viewport: { width: 1280, height: 900 } }],
]

/** The view of an order in each state. */
const states: Record<PaymentState, Partial<PaymentView>> = {
  waiting: {},
  short: { state: 'short', received: '10', missing: '15.5' },
  seen: { state: 'seen', received: '25.5', missing: '0', confirmations: { have: 3, need: 12 } },
  confirmed: { state: 'confirmed', received: '25.5', missing: '0' },
  expired: { state: 'expired' },
  refund: { state: 'refund', received: '10', missing: '15.5' },
}

let browser: Browser
let world: PaymentWorld
const contexts: BrowserContext[] = []
/** Errors in pages, and requests to other servers than the relay. */
const complaints: string[] = []

beforeAll(async () => {
  ;[browser, world] = await Promise.all([sharedChromium(), PaymentWorld.start()])
})
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close()
  expect(complaints.splice(0)).toEqual([])
})
afterAll(async () => {
  await world?.stop()
})

async function open(token: string, options: BrowserContextOptions = {}, from = world): Promise<Page> {
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'], ...options })
  contexts.push(context)
  // The page's clock is stopped. Time passes only when a test lets it pass.
  await context.clock.install({ time: 0 })
  await context.clock.pauseAt(1)
  const page = await context.newPage()
  // Violations of the content security policy are also reported on the console.
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', (dialog) => complaints.push(`a dialog: ${dialog.message()}`))
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== from.url) complaints.push(`requested ${request.url()}`)
  })
  await page.goto(from.pageOf(token))
  return page
}

/** Lets time pass in a page, so that its timers fire. The relay still answers in real time. */
function letPass(page: Page, ms: number): Promise<void> {
  return page.clock.runFor(ms)
}

function headline(page: Page, text: string): Promise<void> {
  return page.locator('.headline', { hasText: text }).waitFor()
}

function textOf(page: Page, name: string): Promise<string | null> {
  return page.locator(`[data-text="${name}"]`).textContent()
}

/** Two ways to pay besides each other, and a processor. */
const CHOICES = [
  { method: WAITING.method, kind: 'transfer', symbol: 'USDT', network: 'Ethereum' },
  { method: 'tron:mainnet/TR7', kind: 'transfer', symbol: 'USDT', network: 'TRON' },
  { method: 'usdt', kind: 'hosted', symbol: 'USDT', network: 'NOWPayments' },
] as const

describe.each(devices)('on %s', (_device, options) => {
  test('what arrives is listed as it comes, with a link to the transaction and a receipt to keep', async () => {
    const token = world.place({ contract: '0xdAC17F958D2ee523a2206206994597C13D831ec7' })
    const page = await open(token, options)
    await headline(page, 'Waiting for your payment')
    expect(await page.locator('.arrivals').isVisible()).toBe(false)
    expect(await page.locator('.receipt').isVisible()).toBe(false)
    const shared = { network: 'Ethereum', at: 0, outcome: null, state: 'seen' } as const
    const coin: Arrival = { ...shared, kind: 'own_coin', amount: '0.5', symbol: '', reference: '<b>0xa1</b>' }
    world.change(token, { arrivals: [coin] })
    await letPass(page, REFRESH_MS)
    await headline(page, 'Something else arrived')
    expect(await page.locator('.arrivals li').allInnerTexts()).toEqual([
      expect.stringMatching(
        /^0\.5 of the chain’s own coin on Ethereum\s+This does not pay .*\s+<b>0xa1<\/b>$/,
      ),
    ])
    const address = 'https://explorer.example/tx/0xa2'
    const paid = {
      ...shared,
      kind: 'payment',
      amount: '25.5',
      symbol: 'USDT',
      reference: '0xa2',
      page: address,
    }
    world.change(token, {
      ...{ state: 'confirmed', received: '25.5', missing: '0', confirmedAt: 1 },
      arrivals: [coin, { ...paid, kind: 'payment', state: 'final', outcome: 'counted' }],
    })
    await letPass(page, REFRESH_MS)
    await headline(page, 'Paid')
    const link = page.getByRole('link', { name: '0xa2' })
    expect(await link.getAttribute('href')).toBe(address)
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Save a receipt' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('receipt.txt')
  })

  test.each([true, false])(
    'another way to pay is chosen with one tap, with scripts: %p',
    async (javaScriptEnabled) => {
      const token = world.place({ choices: CHOICES })
      const page = await open(token, { ...options, javaScriptEnabled })
      const choices = page.getByRole('navigation', { name: 'Ways to pay' })
      expect(await choices.locator('[aria-current]').textContent()).toBe('USDT on Ethereum')
      await choices.getByRole('button', { name: 'USDT on TRON' }).click()
      await choices.locator('[aria-current]', { hasText: 'USDT on TRON' }).waitFor()
      expect(page.url()).toBe(world.pageOf(token))
      expect(await page.locator('.warning').textContent()).toContain('USDT on TRON')
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
      await page.waitForLoadState('load') // The code is loaded before its order is paid in another way.
      await choices.getByRole('button', { name: 'NOWPayments' }).click()
      const link = page.getByRole('link', { name: 'Pay at NOWPayments' })
      expect(await link.getAttribute('href')).toBe(HOSTED_PAGE)
    },
  )

  test('a choice that fails is told, and the one before stays', async () => {
    const token = world.place({ choices: CHOICES })
    const page = await open(token, options)
    await page.waitForLoadState('load')
    world.change(token, { choices: CHOICES.slice(0, 1) })
    await page.getByRole('button', { name: 'USDT on TRON' }).click()
    await page.waitForURL('**?refused')
    world.change(token, { choices: CHOICES })
    await page.reload()
    await page.getByRole('alert').getByText('not available now').waitFor()
    expect(await page.locator('[aria-current]').textContent()).toBe('USDT on Ethereum')
  })

  test('a way that was chosen elsewhere appears by itself', async () => {
    const token = world.place({ choices: CHOICES })
    const page = await open(token, options)
    world.change(token, {
      method: 'tron:mainnet/TR7',
      network: 'TRON',
      payTo: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE',
    })
    await letPass(page, REFRESH_MS)
    await page.locator('[aria-current]', { hasText: 'USDT on TRON' }).waitFor()
    expect(await textOf(page, 'payTo')).toBe('TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE')
  })

  test('the page follows a payment from the first money to the last confirmation without reloading', async () => {
    const token = world.place()
    const page = await open(token, options)
    let loads = 0
    page.on('load', () => {
      loads += 1
    })
    expect(await page.locator('img.code').evaluate((code: HTMLImageElement) => code.naturalWidth > 0)).toBe(
      true,
    )

    world.change(token, states.short)
    await letPass(page, REFRESH_MS)
    await headline(page, '15.5 USDT is still missing')
    expect([await textOf(page, 'due'), await textOf(page, 'dueLabel')]).toEqual(['15.5', 'Still missing'])
    expect(await page.locator('img.code').getAttribute('src')).toEndWith('/code.svg?15.5')

    world.change(token, states.seen)
    await letPass(page, REFRESH_MS)
    await headline(page, 'Payment seen')
    expect(await page.locator('[data-part="pay"]').isVisible()).toBe(false)
    expect(await page.getByRole('progressbar', { name: '3 of 12 confirmations' }).getAttribute('value')).toBe(
      '3',
    )

    world.change(token, { confirmations: { have: 11, need: 12 } })
    await letPass(page, REFRESH_MS)
    await page.getByRole('progressbar', { name: '11 of 12 confirmations' }).waitFor()

    world.change(token, states.confirmed)
    await letPass(page, REFRESH_MS)
    await headline(page, 'Paid')
    expect(await page.title()).toBe('Paid – the id ada')
    expect(await page.getByRole('progressbar').isVisible()).toBe(false)

    const requests: string[] = []
    page.on('request', (request) => requests.push(new URL(request.url()).search))
    await letPass(page, 60_000)
    // The test's own request comes after all requests of the page.
    await page.evaluate(() => fetch('?last'))
    expect({ loads, requests }).toEqual({ loads: 0, requests: ['?last'] })
  })

  test('address and amount can be copied exactly with the keyboard, and the page announces it', async () => {
    const page = await open(world.place(), options)
    for (const [name, copied] of [
      ['amount', '25.5'],
      ['address', WAITING.payTo],
    ] as const) {
      const button = page.getByRole('button', { name: `Copy the ${name}` })
      await button.focus()
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: `Copied the ${name}` }).waitFor()
      expect(await textOf(page, 'announcement')).toBe(`Copied the ${name}.`)
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(copied)
      await letPass(page, 2500)
      await button.waitFor()
      expect(await textOf(page, 'announcement')).toBe('')
    }
  })

  test('nothing is wider than the screen, and buttons are large enough for a thumb', async () => {
    const long = {
      title: `the channel ${'W'.repeat(64)}`,
      payTo: `${'W'.repeat(300)}\nIBAN DE00`,
      payUri: undefined,
    }
    const page = await open(world.place(), options)
    for (const view of [...Object.values(states), long]) {
      await page.goto(world.pageOf(world.place(view)))
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
      for (const button of await page.locator('button:visible, a:visible').all())
        expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44)
    }
  })
})

test('if a reorganisation removes the payment, the page asks for it again', async () => {
  const token = world.place(states.seen)
  const page = await open(token)
  world.change(token, { ...WAITING, expiresAt: Date.now() + 60_000 })
  await letPass(page, REFRESH_MS)
  await headline(page, 'Waiting for your payment')
  expect(await page.getByRole('button', { name: 'Copy the address' }).isVisible()).toBe(true)
  await page.waitForFunction(
    () => (document.querySelector<HTMLImageElement>('img.code')?.naturalWidth ?? 0) > 0,
  )
})

test('the operator’s payment text is copied with all its lines', async () => {
  const payTo = ' Bank transfer\n\n  IBAN DE00 <b>0000</b>\nReference: ada & co '
  const page = await open(world.place({ kind: 'manual', payTo, network: '', payUri: undefined }))
  await page.getByRole('button', { name: 'Copy the text' }).click()
  await page.getByRole('button', { name: 'Copied the text' }).waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(payTo)
})

test('without a clipboard the text to copy is selected', async () => {
  const context = await browser.newContext()
  contexts.push(context)
  await context.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
  const page = await context.newPage()
  await page.goto(world.pageOf(world.place()))
  const isSaid = page.getByRole('button', { name: /^(?:Copied|Selected) the address$/ }).waitFor()
  await page.getByRole('button', { name: 'Copy the address' }).click()
  await isSaid
  expect(await page.evaluate(() => getSelection()?.toString())).toBe(WAITING.payTo)
})

test('the time left follows the relay’s clock, not the device’s, and runs out', async () => {
  const ahead = await PaymentWorld.start({ aheadMs: 86_400_000 })
  try {
    const token = ahead.place()
    const page = await open(token, {}, ahead)
    const secondsLeft = async (): Promise<number> => {
      const [, minutes, seconds] = /^(\d+):(\d\d)$/.exec((await textOf(page, 'left')) ?? '') ?? []
      return Number(minutes) * 60 + Number(seconds)
    }
    const left = await secondsLeft()
    expect(left).toBeWithin(810, 871)
    await letPass(page, 2000)
    expect(await secondsLeft()).toBe(left - 2)
    // Less than the time to the next request, so that the page's own clock runs out.
    ahead.change(token, { expiresAt: Date.now() + 86_400_000 + 2500 })
    await letPass(page, REFRESH_MS - 2000)
    await page.waitForFunction(
      () => document.querySelector('[data-text="left"]')?.textContent?.startsWith('0:'),
      undefined,
      { polling: 20 },
    )
    await letPass(page, 2500)
    await page.getByText('Looking for payments made in time').waitFor()
    expect(await textOf(page, 'left')).toBe('0:00')
    ahead.change(token, states.expired)
    await letPass(page, REFRESH_MS - 2500)
    await headline(page, 'The time to pay is over')
    expect(await page.locator('[data-part="pay"]').isVisible()).toBe(false)
  } finally {
    await ahead.stop()
  }
})

test('days that are left are shown as days, and the end with its date', async () => {
  const expiresAt = Date.now() + 53.5 * 3_600_000
  const page = await open(world.place({ kind: 'manual', expiresAt }))
  await page.waitForFunction(() =>
    document.querySelector('[data-text="until"]')?.textContent?.match(/20\d\d/),
  )
  expect(await textOf(page, 'left')).toBe('2 d 5 h')
  expect(await textOf(page, 'until')).not.toContain('UTC')
})

test('screen readers announce changes, but not the running clock', async () => {
  const page = await open(world.place())
  const spoken = page.locator('[role="status"], [aria-live]')
  const texts = (await spoken.allTextContents()).join(' ')
  expect(texts).toContain('Waiting for your payment')
  expect(texts).not.toContain('Time left')
  expect(await page.getByRole('timer').textContent()).toContain('Time left')
})

test('a lost connection is shown and retried, and the notice disappears afterwards', async () => {
  const token = world.place()
  const page = await open(token)
  await page.context().setOffline(true)
  await letPass(page, REFRESH_MS)
  await page.getByText('Connection lost, trying again.').waitFor()
  world.change(token, states.confirmed)
  await page.context().setOffline(false)
  await headline(page, 'Paid')
  expect(await textOf(page, 'trouble')).toBe('')
  const others = complaints.splice(0).filter((complaint) => !complaint.includes('ERR_INTERNET_DISCONNECTED'))
  expect(others).toEqual([])
})

test('without scripts the page shows the state and reloads by itself', async () => {
  const token = world.place()
  const page = await open(token, { javaScriptEnabled: false })
  await headline(page, 'Waiting for your payment')
  expect(await page.locator('button:visible').count()).toBe(0)
  world.change(token, states.confirmed)
  // The browser's own timers, such as that of a meta refresh, follow its virtual time.
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setVirtualTimePolicy', {
    policy: 'pauseIfNetworkFetchesPending',
    budget: 25_000,
  })
  await headline(page, 'Paid')
})

test('markup in a name is shown as text', async () => {
  const title = `the channel <img src=x onerror=alert(1)><script>alert(2)</script>\u202egnp`
  const page = await open(world.place({ title }))
  expect(await page.locator('h1').textContent()).toBe(title.replace('\u202e', ''))
  expect(await page.locator('h1 img, h1 script').count()).toBe(0)
})

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  test('every text has a contrast of at least 4.5 to 1', async () => {
    const page = await open(world.place(), { colorScheme })
    for (const view of [...Object.values(states), { kind: 'dev' as const }]) {
      await page.goto(world.pageOf(world.place(view)))
      expect(await page.evaluate(faintTexts)).toEqual([])
    }
  })
})

/**
 * Texts of the page whose contrast with their background is less than WCAG 2.2 AA requires. Runs in the page.
 */
function faintTexts(): string[] {
  const rgb = (color: string): number[] => (color.match(/[\d.]+/g) ?? []).map(Number)
  const luminance = (color: string): number => {
    const [r = 0, g = 0, b = 0] = rgb(color).map((part) => {
      const share = part / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const behind = (element: Element | null): string => {
    if (!element) return 'rgb(255, 255, 255)'
    const color = getComputedStyle(element).backgroundColor
    return rgb(color)[3] === 0 ? behind(element.parentElement) : color
  }
  return [...document.querySelectorAll<HTMLElement>('body *')]
    .filter((element) => element.checkVisibility() && !element.closest('.unseen'))
    .filter((element) =>
      [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim()),
    )
    .filter((element) => {
      const [a, b] = [luminance(getComputedStyle(element).color), luminance(behind(element))]
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5
    })
    .map((element) => element.textContent ?? '')
}
