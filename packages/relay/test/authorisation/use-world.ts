// The relays at which every kind of caller tries every endpoint and every frame.

import { afterAll, beforeAll } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestEngine } from '../engines.ts'
import { type UsedRelay, useRelayWith } from '../use-relay.ts'
import { World } from './world.ts'

/** A world on a relay of its own on this engine, for the tests of the surrounding describe. */
export function useWorld(engine: TestEngine, otherRelay: UsedRelay): { readonly world: World } {
  const folder = mkdtempSync(join(tmpdir(), 'sotto-authorisation-'))
  let databaseUrl: string | undefined
  const relay = useRelayWith(async () => {
    const environment = await engine.environment()
    databaseUrl = environment.DATABASE_URL
    return {
      ...environment,
      INVITES_BY_MEMBERS: '1000',
      ...{ MANUAL_PAY_TO: 'IBAN XX00 0000', PUSH_ALLOW: 'localhost' },
      ...{ FCM_SERVICE_ACCOUNT: writeServiceAccount(folder), FCM_API_URL: 'https://localhost:1025' },
      ...{ LIMIT_CHANNEL_SEATS: '1000', LIMIT_PENDING_ORDERS: '1000', LIMIT_MEDIA_UPLOADS: '1000' },
    }
  })
  let made: World | undefined
  beforeAll(async () => {
    made = await World.make(relay, databaseUrl, otherRelay.url)
  }, 240_000)
  afterAll(async () => {
    await made?.store.close()
    rmSync(folder, { recursive: true })
  })
  return {
    get world() {
      if (!made) throw new Error('the world of these tests is not made yet')
      return made
    },
  }
}

// Nothing is sent with it: no time passes at the relay, so no push is due.
function writeServiceAccount(folder: string): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const file = join(folder, 'service-account.json')
  const account = {
    ...{ type: 'service_account', project_id: 'tests', private_key_id: 'k' },
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: 'relay@tests.iam.gserviceaccount.com',
    token_uri: 'https://localhost:1025/token',
  }
  writeFileSync(file, JSON.stringify(account))
  return file
}
