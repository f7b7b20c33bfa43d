// The payment page in a real browser, on a phone and on a desktop: what a payer sees, hears, copies and waits for.
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { startChromium } from '../../client/test/browser/chromium.ts'
import type { PaymentState, PaymentView } from '../src/payments/page/payment-view.ts'
import { PaymentWorld, WAITING } from './payment-page-world.ts'

setDefaultTimeout(60_000)

const devices: [string, BrowserContextOptions][] = [
  ['a phone', { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }],
  ['a desktop', { viewport: { width: 1280, height: 900 } }],
]

/** What each state shows of an order. */
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
/** What went wrong in pages, and what they asked others than the relay for. */
const complaints: string[] = []

beforeAll(async () => {
  ;[browser, world] = await Promise.all([startChromium(), PaymentWorld.start()])
})
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close()
  expect(complaints.splice(0)).toEqual([])
})
afterAll(async () => {
  await browser?.close()
  await world?.stop()
})

async function open(token: string, options: BrowserContextOptions = {}, from = world): Promise<Page> {
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'], ...options })
  contexts.push(context)
  const page = await context.newPage()
  // Violations of the policy are told on the console too.
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', (dialog) => complaints.push(`a dialog: ${dialog.message()}`))
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== from.url) complaints.push(`asked ${request.url()}`)
  })
  await page.goto(from.pageOf(token), { waitUntil: 'networkidle' })
  return page
}

function headline(page: Page, text: string): Promise<void> {
  return page.locator('.headline', { hasText: text }).waitFor({ timeout: 15_000 })
}

function textOf(page: Page, name: string): Promise<string | null> {
  return page.locator(`[data-text="${name}"]`).textContent()
}

describe.each(devices)('on %s', (_device, options) => {
  test('a payment is followed from the first money to the last confirmation, without loading again', async () => {
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
    await headline(page, '15.5 USDT is still missing')
    expect([await textOf(page, 'due'), await textOf(page, 'dueLabel')]).toEqual(['15.5', 'Still missing'])
    expect(await page.locator('img.code').getAttribute('src')).toEndWith('/code.svg?15.5')

    world.change(token, states.seen)
    await headline(page, 'Payment seen')
    expect(await page.locator('[data-part="pay"]').isVisible()).toBe(false)
    expect(await page.getByRole('progressbar', { name: '3 of 12 confirmations' }).getAttribute('value')).toBe(
      '3',
    )

    world.change(token, { confirmations: { have: 11, need: 12 } })
    await page.getByRole('progressbar', { name: '11 of 12 confirmations' }).waitFor()

    world.change(token, states.confirmed)
    await headline(page, 'Paid')
    expect(await page.title()).toBe('Paid – the id ada')
    expect(await page.getByRole('progressbar').isVisible()).toBe(false)

    let looks = 0
    page.on('request', () => {
      looks += 1
    })
    await Bun.sleep(4000)
    expect([loads, looks]).toEqual([0, 0])
  })

  test('address and amount are copied with the keyboard, exactly, and it is said', async () => {
    const page = await open(world.place(), options)
    for (const [name, copied] of [
      ['amount', '25.5'],
      ['address', WAITING.payTo],
    ] as const) {
      const button = page.getByRole('button', { name: `Copy the ${name}` })
      await button.focus()
      // It is said for a moment only: looked for from before it can be.
      const isSaid = Promise.all([
        page.getByRole('button', { name: `Copied the ${name}` }).waitFor(),
        page
          .locator('[data-text="announcement"]')
          .filter({ hasText: new RegExp(`^Copied the ${name}\\.$`) })
          .waitFor(),
      ])
      await page.keyboard.press('Enter')
      await isSaid
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(copied)
      await button.waitFor()
    }
  })

  test('nothing reaches over the edge, and buttons are large enough for a thumb', async () => {
    const long = {
      title: `the channel ${'W'.repeat(64)}`,
      payTo: `${'W'.repeat(300)}\nIBAN DE00`,
      payUri: undefined,
    }
    for (const view of [...Object.values(states), long]) {
      const page = await open(world.place(view), options)
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
      for (const button of await page.locator('button:visible, a:visible').all())
        expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44)
    }
  })
})

test('what a reorganisation takes away is asked for again', async () => {
  const token = world.place(states.seen)
  const page = await open(token)
  world.change(token, { ...WAITING, expiresAt: Date.now() + 60_000 })
  await headline(page, 'Waiting for your payment')
  expect(await page.getByRole('button', { name: 'Copy the address' }).isVisible()).toBe(true)
  await page.waitForFunction(
    () => (document.querySelector<HTMLImageElement>('img.code')?.naturalWidth ?? 0) > 0,
  )
})

test('a text of the operator is copied with all its lines', async () => {
  const payTo = ' Bank transfer\n\n  IBAN DE00 <b>0000</b>\nReference: ada & co '
  const page = await open(world.place({ method: 'manual', payTo, network: '', payUri: undefined }))
  const isSaid = page.getByRole('button', { name: 'Copied the text' }).waitFor()
  await page.getByRole('button', { name: 'Copy the text' }).click()
  await isSaid
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(payTo)
})

test('where there is no clipboard to write to, what is to be copied is selected', async () => {
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

test('the time left is the relay’s, whatever the device believes, and runs out', async () => {
  const ahead = await PaymentWorld.start({ aheadMs: 86_400_000 })
  try {
    const token = ahead.place()
    const page = await open(token, {}, ahead)
    const left = (await textOf(page, 'left')) ?? ''
    expect(left).toMatch(/^14:[123]\d$/)
    await page.waitForFunction(
      (left) => document.querySelector('[data-text="left"]')?.textContent !== left,
      left,
    )
    ahead.change(token, { expiresAt: Date.now() + 86_400_000 + 5000 })
    await page.getByText('Looking for payments made in time').waitFor({ timeout: 15_000 })
    expect(await textOf(page, 'left')).toBe('0:00')
    ahead.change(token, states.expired)
    await headline(page, 'The time to pay is over')
    expect(await page.locator('[data-part="pay"]').isVisible()).toBe(false)
  } finally {
    await ahead.stop()
  }
})

test('changes are read out, and the running clock is not', async () => {
  const page = await open(world.place())
  const spoken = page.locator('[role="status"], [aria-live]')
  const texts = (await spoken.allTextContents()).join(' ')
  expect(texts).toContain('Waiting for your payment')
  expect(texts).not.toContain('Time left')
  expect(await page.getByRole('timer').textContent()).toContain('Time left')
})

test('a connection that is lost is told of, tried again, and then forgotten', async () => {
  const token = world.place()
  const page = await open(token)
  await page.context().setOffline(true)
  await page.getByText('Connection lost, trying again.').waitFor({ timeout: 15_000 })
  world.change(token, states.confirmed)
  await page.context().setOffline(false)
  await headline(page, 'Paid')
  expect(await textOf(page, 'trouble')).toBe('')
  const others = complaints.splice(0).filter((complaint) => !complaint.includes('ERR_INTERNET_DISCONNECTED'))
  expect(others).toEqual([])
})

test('without a script the page shows the state, and comes again by itself', async () => {
  const token = world.place()
  const page = await open(token, { javaScriptEnabled: false })
  await headline(page, 'Waiting for your payment')
  expect(await page.locator('button:visible').count()).toBe(0)
  world.change(token, states.confirmed)
  await page.locator('.headline', { hasText: 'Paid' }).waitFor({ timeout: 40_000 })
})

test('a name that would be more than a name is a name', async () => {
  const title = `the channel <img src=x onerror=alert(1)><script>alert(2)</script>\u202egnp`
  const page = await open(world.place({ title }))
  expect(await page.locator('h1').textContent()).toBe(title.replace('\u202e', ''))
  expect(await page.locator('h1 img, h1 script').count()).toBe(0)
})

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  test('everything written can be read: 4.5 to 1 at least', async () => {
    for (const view of [...Object.values(states), { method: 'dev' as const }]) {
      const page = await open(world.place(view), { colorScheme })
      expect(await page.evaluate(faintTexts)).toEqual([])
    }
  })
})

/** Texts of the page whose contrast to what is behind them is less than WCAG 2.2 AA asks for. Runs in the page. */
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
