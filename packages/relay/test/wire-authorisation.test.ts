// Every endpoint, asked by every kind of caller: who gets what, that nobody else learns or changes anything
// of the owner's, and that no endpoint is left out. What the relay serves besides them is the same for every
// caller.
import { afterAll, describe, expect, test } from 'bun:test'
import { type EndpointName, endpoints } from '@sotto/protocol'
import { OTHER_PATHS } from '../src/listener/listener.ts'
import { operatorAnswers } from '../src/operator-commands.ts'
import { PaymentPages } from '../src/payments/payment-page/payment-page.ts'
import {
  accountRows,
  callRows,
  conversationRows,
  inviteRows,
  pushRows,
} from './authorisation/account-rows.ts'
import type { Credentials } from './authorisation/callers.ts'
import { channelRows } from './authorisation/channel-rows.ts'
import { checkEndpoint, type EndpointRow, expectCodes } from './authorisation/endpoint-matrix.ts'
import { expectNoChange } from './authorisation/expect-changes.ts'
import { friendRows } from './authorisation/friend-rows.ts'
import { keyPackageRows } from './authorisation/key-package-rows.ts'
import { mediaRows } from './authorisation/media-rows.ts'
import { reportRows } from './authorisation/report-rows.ts'
import { vanityRows } from './authorisation/shop-rows.ts'
import { unclassifiedTables } from './authorisation/store-contents.ts'
import { useWorld } from './authorisation/use-world.ts'
import { MISSING, type Things } from './authorisation/world.ts'
import { engines } from './engines.ts'
import { NowPaymentsServer } from './processor-servers.ts'
import { useRelay } from './use-relay.ts'
import { call, wireAccount } from './wire.ts'

/** The row of every endpoint. An endpoint without a row does not compile. */
const rows: Readonly<Record<EndpointName, EndpointRow>> = {
  ...accountRows,
  ...conversationRows,
  ...keyPackageRows,
  ...friendRows,
  ...channelRows,
  ...vanityRows,
  ...callRows,
  ...pushRows,
  ...mediaRows,
  ...inviteRows,
  ...reportRows,
}
const names = Object.keys(endpoints) as EndpointName[]

const pagePaths = new PaymentPages({
  find: async () => undefined,
  choose: async () => undefined,
  clock: { now: Date.now, monotonic: Date.now },
}).pages.map(({ path }) => path)

/** What a path answers to everybody, and which names of the owner's it may show. */
interface Route {
  readonly path: (things: Things) => string
  /** By default GET. */
  readonly method?: 'POST'
  readonly status: number
  readonly shows?: readonly string[]
  /** The status for the page of an order that does not exist; undefined if the path names none. */
  readonly missing?: number
}

const otherRoutes: Readonly<Record<(typeof OTHER_PATHS)[number], Route>> = {
  '/': { path: () => '/', status: 200 },
  '/health': { path: () => '/health', status: 200 },
  '/ready': { path: () => '/ready', status: 200 },
  '/ws': { path: () => '/ws', status: 426 },
  '/openapi.json': { path: () => '/openapi.json', status: 200 },
  '/asyncapi.json': { path: () => '/asyncapi.json', status: 200 },
}

// The token in the path is the permission; a page shows what is bought, and neither its buyer nor the order.
const pageRoutes: Readonly<Record<string, Route>> = {
  '/pay/:token': {
    path: ({ pageToken }) => `/pay/${pageToken}`,
    ...{ status: 200, shows: ['orderedAlias'], missing: 404 },
  },
  '/pay/:token/state': { path: ({ pageToken }) => `/pay/${pageToken}/state`, status: 200, missing: 404 },
  '/pay/:token/method': {
    path: ({ pageToken }) => `/pay/${pageToken}/method?to=manual`,
    ...{ method: 'POST', status: 303, missing: 404 },
  },
  // The operator's own text is no address that a wallet could scan.
  '/pay/:token/code.svg': {
    path: ({ pageToken }) => `/pay/${pageToken}/code.svg`,
    status: 404,
    missing: 404,
  },
  '/pay/:token/receipt.txt': {
    path: ({ pageToken }) => `/pay/${pageToken}/receipt.txt`,
    status: 404, // Nothing has arrived.
    missing: 404,
  },
  '/pay/assets/:version/page.css': { path: () => '/pay/assets/x/page.css', status: 200 },
  '/pay/assets/:version/page.js': { path: () => '/pay/assets/x/page.js', status: 200 },
  '/pay/assets/:version/icon.svg': { path: () => '/pay/assets/x/icon.svg', status: 200 },
}

test('every path outside the API has a row', () => {
  expect(Object.keys(otherRoutes).sort()).toEqual([...OTHER_PATHS].sort())
  expect(Object.keys(pageRoutes).sort()).toEqual([...pagePaths].sort())
})

const otherRelay = useRelay()

test('every endpoint has a row, and no row is for an endpoint that does not exist', () => {
  expect(Object.keys(rows).sort()).toEqual(Object.keys(endpoints).sort())
})

test('the rows have every code by which endpoints tell callers apart', () => {
  for (const name of names) expectCodes(name, rows[name])
})

for (const engine of engines) {
  describe(`on ${engine.name}`, () => {
    const used = useWorld(engine, otherRelay)

    test('every table says whose its rows are, or is known to belong to nobody', () => {
      expect(unclassifiedTables(used.world.store.columns)).toEqual([])
    })

    test.each(names)('%s', async (name) => {
      await checkEndpoint(used.world, name, rows[name])
    })

    const everyLogin = (): Credentials['headers'][] => {
      const { badLogins, callers } = used.world
      const valid = Object.values(callers).map(({ account }) => account.authorized())
      return [...Object.values(badLogins).map(({ headers }) => headers), ...valid]
    }

    test.each(Object.entries({ ...otherRoutes, ...pageRoutes }))('%s', async (_name, route) => {
      const { world } = used
      const { things, relay } = world
      const path = route.path(things)
      const secrets = world.secretsOf(things, true)
      const hidden = Object.keys(secrets).filter((name) => !path.includes(secrets[name] ?? ''))
      const before = await world.contents()
      const texts = new Set<string>()
      for (const headers of everyLogin()) {
        const asked = { method: route.method ?? 'GET', headers, redirect: 'manual' } as const
        const { status, text } = await call(`${relay.url}${path}`, asked)
        expect([status, text]).toEqual([route.status, text])
        const shown = hidden.filter((name) => text.includes(secrets[name] ?? ''))
        expect(shown.filter((name) => !route.shows?.includes(name))).toEqual([])
        texts.add(text)
        const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((method) => method !== asked.method)
        for (const method of others)
          expect((await call(`${relay.url}${path}`, { method, headers })).status).toBe(405)
        if (route.missing !== undefined)
          expect((await call(`${relay.url}${route.path(MISSING)}`, asked)).status).toBe(route.missing)
      }
      expect(texts.size).toBe(1)
      expectNoChange({ before, after: await world.contents() })
    })

    test('commands of the operator are not served on the port', async () => {
      const { relay, things } = used.world
      const before = await used.world.contents()
      const body = JSON.stringify({
        order_id: things.order,
        alias_id: things.alias,
        purpose: 'token',
        who: 'x',
        why: 'x',
      })
      for (const headers of everyLogin()) {
        for (const command of Object.keys(operatorAnswers)) {
          const answer = await call(`${relay.url}/${command}`, { method: 'POST', headers, body })
          expect([command, answer.status]).toEqual([command, 404])
        }
      }
      expectNoChange({ before, after: await used.world.contents() })
    })
  })
}

describe('the address for notifications of a payment processor', () => {
  const processor = new NowPaymentsServer()
  afterAll(() => processor[Symbol.dispose]())
  const relay = useRelay({ ...processor.settings, PUBLIC_URL: 'https://relay.example' })

  test('takes a token of no account for the signature of the processor', async () => {
    const [buyer, stranger] = [await wireAccount(relay.url), await wireAccount(relay.url)]
    const { body } = await buyer.post('/vanity/purchase', { alias_id: 'harbour_webhook' })
    const payment = Object.assign(processor.choose(body.order_id), { payment_status: 'finished', part: 1 })
    const { body: notification } = processor.notification(payment)
    for (const headers of [{}, buyer.authorized(), stranger.authorized()]) {
      const answer = await call(`${relay.url}/payments/webhook`, {
        method: 'POST',
        headers,
        body: notification,
      })
      expect(answer.status).toBe(401)
    }
    const status = await call(buyer.api(`/vanity/order/${body.order_id}/status`))
    expect(status.body.status).toBe('pending')
  })
})
