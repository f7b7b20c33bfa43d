// Every endpoint, asked by every kind of caller: who gets what, that nobody else learns or changes anything
// of the owner's, and that no endpoint is left out.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EndpointName, endpoints } from '@sotto/protocol'
import { accountRows, callRows, pushRows } from './authorisation/account-rows.ts'
import { channelRows } from './authorisation/channel-rows.ts'
import { checkEndpoint, type EndpointRow, expectCodes } from './authorisation/endpoint-matrix.ts'
import { friendRows } from './authorisation/friend-rows.ts'
import { mediaRows } from './authorisation/media-rows.ts'
import { vanityRows } from './authorisation/shop-rows.ts'
import { unclassifiedTables } from './authorisation/store-contents.ts'
import { World } from './authorisation/world.ts'
import { engines } from './engines.ts'
import { useRelay, useRelayWith } from './use-relay.ts'

/** The row of every endpoint. An endpoint without a row does not compile. */
const rows: Readonly<Record<EndpointName, EndpointRow>> = {
  ...accountRows,
  ...friendRows,
  ...channelRows,
  ...vanityRows,
  ...callRows,
  ...pushRows,
  ...mediaRows,
}
const names = Object.keys(endpoints) as EndpointName[]

const folder = mkdtempSync(join(tmpdir(), 'sotto-authorisation-'))
afterAll(() => rmSync(folder, { recursive: true }))
const serviceAccount = join(folder, 'service-account.json')
writeFileSync(
  serviceAccount,
  JSON.stringify({
    ...{ type: 'service_account', project_id: 'tests', private_key_id: 'k' },
    private_key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
      type: 'pkcs8',
      format: 'pem',
    }),
    client_email: 'relay@tests.iam.gserviceaccount.com',
    token_uri: 'https://localhost:1025/token',
  }),
)
const settings = {
  ...{ MANUAL_PAY_TO: 'IBAN XX00 0000', PUSH_ALLOW: 'localhost' },
  ...{ FCM_SERVICE_ACCOUNT: serviceAccount, FCM_API_URL: 'https://localhost:1025' },
  ...{ LIMIT_CHANNEL_SEATS: '1000', LIMIT_PENDING_ORDERS: '1000', LIMIT_MEDIA_UPLOADS: '1000' },
}
const otherRelay = useRelay()

test('every endpoint has a row, and no row is for an endpoint that does not exist', () => {
  expect(Object.keys(rows).sort()).toEqual(Object.keys(endpoints).sort())
})

test('the rows have every code by which endpoints tell callers apart', () => {
  for (const name of names) expectCodes(name, rows[name])
})

for (const engine of engines) {
  describe(`on ${engine.name}`, () => {
    let databaseUrl: string | undefined
    const relay = useRelayWith(async () => {
      const environment = await engine.environment()
      databaseUrl = environment.DATABASE_URL
      return { ...settings, ...environment }
    })
    let world: World
    beforeAll(async () => {
      world = await World.make(relay, databaseUrl, otherRelay.url)
    }, 240_000)
    afterAll(() => world.store.close())

    test('every table says whose its rows are, or is known to belong to nobody', () => {
      expect(unclassifiedTables(world.store.columns)).toEqual([])
    })

    test.each(names)('%s', async (name) => {
      await checkEndpoint(world, name, rows[name])
    })
  })
}
