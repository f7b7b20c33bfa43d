// The payment page over HTTP: what it shows to whom, and what it guards against.
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { ProtocolError } from '@sotto/protocol'
import { readConfig } from '../src/config.ts'
import type { WebPage } from '../src/listener/web-pages.ts'
import { PaymentWorld } from './payment-page-world.ts'

setDefaultTimeout(240_000)

const callbacks: WebPage[] = [
  {
    path: '/payments/example',
    methods: ['POST'],
    rate: 'page',
    answer: async ({ request, address }) => Response.json({ address, body: await request.text() }),
  },
  {
    path: '/payments/refused',
    methods: ['POST'],
    rate: 'page',
    answer: async () => {
      throw new ProtocolError('PAYMENTS_UNAVAILABLE')
    },
  },
]

let world: PaymentWorld
const others: PaymentWorld[] = []
beforeAll(async () => {
  world = await PaymentWorld.start({ pages: callbacks })
})
afterEach(async () => {
  for (const other of others.splice(0)) await other.stop()
})
afterAll(() => world?.stop())

const PRIVATE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; sandbox allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads allow-modals",
  // The page's own requests: with `sandbox` it has an origin of its own.
  'access-control-allow-origin': 'null',
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
}

function expectPrivateHeaders(response: Response): void {
  for (const [name, value] of Object.entries(PRIVATE_HEADERS)) expect(response.headers.get(name)).toBe(value)
  const shared = [...response.headers.keys()].filter((name) => name.startsWith('access-control-'))
  expect(shared).toEqual(['access-control-allow-origin'])
}

describe('the page, its state and its QR code', () => {
  test.each(['', '/state', '/code.svg'])(
    '%p is not cached and not readable by other origins',
    async (part) => {
      const response = await fetch(world.pageOf(world.place()) + part, {
        headers: { origin: 'https://evil.example' },
      })
      expect(response.status).toBe(200)
      expectPrivateHeaders(response)
      expect(response.headers.get('cache-control')).toBe('no-store')
    },
  )

  test('the page shows what to pay without any script', async () => {
    const response = await fetch(world.pageOf(world.place()))
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const text = await response.text()
    for (const shown of ['the id ada', '25.5', 'USDT', 'Ethereum', '14:30', 'Waiting for your payment'])
      expect(text).toContain(shown)
    expect(text.replaceAll(/<\/?b>/g, '')).toContain('>0x52908400098527886E0F7030069857D2E4169EE7<')
    expect(text).toContain('Send exactly this amount of USDT on Ethereum.')
    // It has nothing that the content security policy forbids.
    expect(text).not.toMatch(/<style|style=|<script(?! type="module" src=")|\son\w+=/)
  })

  test('days that are left are shown as days, and the end with its date', async () => {
    const hours = (count: number): number => count * 3_600_000
    const shown = async (leftMs: number): Promise<string> => {
      const expiresAt = Date.now() + leftMs
      const text = await (await fetch(world.pageOf(world.place({ kind: 'manual', expiresAt })))).text()
      const [, end = ''] = /until ([^<]*) UTC</.exec(text) ?? []
      const isEnd = new Date(expiresAt).toISOString().replace('T', ' ').startsWith(end)
      return `${/data-text="left">([^<]*)</.exec(text)?.[1]}, ${isEnd ? 'with its date' : end}`
    }
    expect(await shown(hours(77.5))).toBe('3 d 5 h, with its date')
    expect(await shown(hours(24.5))).toBe('1 d 0 h, with its date')
    expect(await shown(hours(23.5))).toMatch(/^23:[23]\d:\d\d, with its date$/)
    expect(await shown(hours(0.5))).toMatch(/^(?:30:00|2\d:\d\d), \d\d:\d\d$/)
  })

  test('the page links to nothing on other servers, and to nothing by an absolute path', async () => {
    const text = await (await fetch(world.pageOf(world.place()))).text()
    const named = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url = '']) => url)
    expect(
      named.filter(
        (url) =>
          !/^(?:assets\/\w{16}\/[\w.]+|[\w-]{22}\/code\.svg\?25\.5|[\w-]{22}\/receipt\.txt|ethereum:.*)$/.test(
            url,
          ),
      ),
    ).toEqual([])
    expect(named.length).toBe(6)
  })

  test('the state has the fields that the script needs, and no more', async () => {
    const response = await fetch(`${world.pageOf(world.place())}/state`)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(Object.keys(Object(await response.json())).toSorted()).toEqual([
      'againMs',
      'arrivals',
      'detail',
      'due',
      'dueLabel',
      'expiresAt',
      'hasReceipt',
      'headline',
      'method',
      'now',
      'payUri',
      'state',
    ])
  })

  test('without a script too, it shows what arrived, the contract to compare, and a receipt to keep', async () => {
    const hash = `0x${'ab'.repeat(32)}`
    const page = `https://explorer.example/tx/${hash}`
    const token = world.place({
      contract: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
      arrivals: [
        {
          ...{ kind: 'payment', amount: '25.5', symbol: 'USDT', network: 'Ethereum', reference: hash, page },
          ...{ at: 0, state: 'seen', outcome: null, confirmations: { have: 3, need: 12 } },
        },
      ],
    })
    const text = await (await fetch(world.pageOf(token))).text()
    expect(text).toContain('<p>25.5 USDT on Ethereum</p><p class="detail">Seen, 3 of 12 confirmations.</p>')
    expect(text).toContain(`href="${page}" target="_blank" rel="noopener noreferrer">${hash}</a>`)
    expect(text.replaceAll(/<\/?b>/g, '')).toContain('>0xdAC17F958D2ee523a2206206994597C13D831ec7<')
    const receipt = await fetch(`${world.pageOf(token)}/receipt.txt`)
    expect(receipt.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(receipt.headers.get('content-disposition')).toBe('attachment; filename="receipt.txt"')
    expectPrivateHeaders(receipt)
    expect(await receipt.text()).toContain(
      `25.5 USDT on Ethereum\n  Seen, 3 of 12 confirmations.\n  ${hash}\n`,
    )
    expect((await fetch(`${world.pageOf(world.place())}/receipt.txt`)).status).toBe(404)
  })

  test('the QR code exists as long as something is left to pay', async () => {
    const token = world.place()
    const code = await fetch(`${world.pageOf(token)}/code.svg`)
    expect(code.headers.get('content-type')).toBe('image/svg+xml')
    expect(await code.text()).toStartWith('<svg xmlns="http://www.w3.org/2000/svg"')
    world.change(token, { state: 'confirmed', received: '25.5', missing: '0' })
    expect((await fetch(`${world.pageOf(token)}/code.svg`)).status).toBe(404)
  })
})

describe('text chosen by others', () => {
  test.each([
    ['<script>alert(1)</script>'],
    [`the channel "><img src=x onerror=alert(1)>'`],
    ['</title><script>'],
    ['the channel \u202egnp.exe'],
    [`the channel ${'W'.repeat(64)}`],
  ])('is shown only as text: %p', async (title) => {
    const text = await (await fetch(world.pageOf(world.place({ title, payTo: title })))).text()
    expect(text).not.toMatch(/<script(?! type="module" src="assets)|<img(?! class="code")|\u202e.*<\/h1>/)
    expect(text.match(/<\/title>/g)?.length).toBe(1)
    expect(text).toContain('<bdi>')
  })

  test('a long payment text of the operator is shown whole, without a QR code', async () => {
    const payTo = 'Bank transfer, IBAN DE00 0000.\n'.repeat(200)
    const token = world.place({ kind: 'manual', payTo, network: '', payUri: undefined })
    const text = await (await fetch(world.pageOf(token))).text()
    expect(text).toContain(payTo)
    expect(text).toContain('The operator confirms payments by hand')
    expect(text).not.toContain('code.svg')
    expect((await fetch(`${world.pageOf(token)}/code.svg`)).status).toBe(404)
  })

  test('a simulated payment says clearly that nothing is to be paid', async () => {
    const text = await (await fetch(world.pageOf(world.place({ kind: 'dev', payUri: undefined })))).text()
    expect(text).toContain('Nothing is to be paid here')
    expect(text).not.toContain('code.svg')
  })
})

describe('an invalid token', () => {
  const wrong = [
    'A'.repeat(22),
    'short',
    'A'.repeat(129),
    '%3Cscript%3E'.repeat(3),
    '..%2F..%2Fetc%2Fpasswd',
    '%00'.repeat(22),
    '%ff'.repeat(22),
    "'%20OR%201=1%20--%20aaaaaaaaaaaa",
  ]
  test.each(wrong)('is answered like an unknown token: %s', async (token) => {
    const answers = await Promise.all(
      ['', '/state', '/code.svg'].map((part) => fetch(`${world.url}/pay/${token}${part}`)),
    )
    const unknown = await (await fetch(`${world.url}/pay/${'B'.repeat(22)}`)).text()
    for (const response of answers) {
      expect(response.status).toBe(404)
      expectPrivateHeaders(response)
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(await response.text()).toBe(unknown)
    }
    expect(unknown).toContain('There is no such payment page')
  })
})

test('requests for payment pages are counted by address, for all pages together, and too many are refused with a time to retry', async () => {
  const { rates } = readConfig({})
  if (!rates) throw new Error('expected rates by default')
  const limited = await PaymentWorld.start({ rates: { ...rates, page: { burst: 5, perSeconds: 600 } } })
  others.push(limited)
  const token = limited.place()
  const statuses: number[] = []
  const startedAt = performance.now()
  for (const part of ['', '/state', '/code.svg'])
    statuses.push((await fetch(limited.pageOf(token) + part)).status)
  for (let guess = 0; guess < 2; guess += 1)
    statuses.push((await fetch(`${limited.url}/pay/${'A'.repeat(21)}${guess}`)).status)
  expect(statuses).toEqual([200, 200, 200, 404, 404])
  const refused = await fetch(limited.pageOf(token))
  expect(refused.status).toBe(429)
  // 120 seconds after the first request, less what has passed since.
  const passed = Math.ceil((performance.now() - startedAt) / 1000)
  expect(Number(refused.headers.get('retry-after'))).toBeWithin(120 - passed, 121)
  expect(refused.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(refused.headers.get('x-content-type-options')).toBe('nosniff')
  expect(refused.headers.get('access-control-allow-origin')).toBe(null)
})

describe('style and script', () => {
  async function assets(): Promise<string[]> {
    const text = await (await fetch(world.pageOf(world.place()))).text()
    return [...text.matchAll(/"(assets\/[^"]+)"/g)].map(([, path = '']) => `${world.url}/pay/${path}`)
  }

  test('may be cached permanently, and are in formats that browsers understand', async () => {
    const urls = await assets()
    expect(urls.length).toBe(3)
    for (const url of urls) {
      const response = await fetch(url)
      expect(response.status).toBe(200)
      expectPrivateHeaders(response)
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      const type = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' }[
        url.split('.').at(-1) ?? ''
      ]
      expect(response.headers.get('content-type')).toBe(`${type}; charset=utf-8`)
      expect(await response.text()).not.toMatch(/import |: string/)
    }
  })

  test('of another version are answered with the current files, which may not be cached', async () => {
    for (const url of await assets()) {
      const response = await fetch(url.replace(/assets\/\w+/, 'assets/0000000000000000'))
      expect(response.status).toBe(200)
      expect(response.headers.get('cache-control')).toBe('no-store')
    }
  })
})

describe('pages beside the HTTP interface', () => {
  test('a callback page gets the request body unchanged', async () => {
    const response = await fetch(`${world.url}/payments/example`, { method: 'POST', body: '{"a": 1 }' })
    expect(await response.json()).toEqual({ address: '127.0.0.1', body: '{"a": 1 }' })
    expect(response.headers.get('access-control-allow-origin')).toBe(null)
  })

  test('a refusal by a callback page is sent as text', async () => {
    const response = await fetch(`${world.url}/payments/refused`, { method: 'POST' })
    expect(response.status).toBe(503)
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(await response.text()).toBe('The relay has no payment provider, or cannot reach it.\n')
  })

  test('a wrong method answers 405 and a wrong path 404', async () => {
    const posted = await fetch(world.pageOf(world.place()), { method: 'POST' })
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET'])
    const got = await fetch(`${world.url}/payments/example`)
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST'])
    for (const path of [
      '/pay',
      '/pay/',
      `/pay/${'A'.repeat(22)}/`,
      `/pay/${'A'.repeat(22)}/other`,
      '/pay/assets/x/other.css',
    ])
      expect((await fetch(world.url + path)).status).toBe(404)
  })
})
