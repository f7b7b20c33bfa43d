// The figures of `sotto status`, on both engines.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tellRelay } from '../src/operator.ts'
import { certify } from './certificate.ts'
import { engines, type TestEngine } from './engines.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { message, wireFriends } from './wire.ts'

for (const engine of engines) describe(`on ${engine.name}`, () => figuresOn(engine))

function figuresOn(engine: TestEngine): void {
  let relay: RelayProcess
  let environment: Record<string, string>
  beforeAll(async () => {
    const env = { ...(await engine.environment()), MANUAL_PAY_TO: 'the till' }
    relay = await startRelay({ env })
    environment = { ...env, DATA_DIR: relay.dataDir }
  }, 240_000)
  afterAll(() => relay.stop())

  const figures = () => tellRelay(environment, 'status', {})

  test('what waits, the orders and the space are counted, at a relay that runs and without one', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const socket = await alice.connect()
    for (const text of ['one', 'two']) socket.send(message(bob.alias, conv, text))
    for (let acks = 0; acks < 2; acks++) await socket.next('ack')
    await alice.post('/vanity/purchase', { alias_id: 'brook_1' })
    await alice.report({ about: 'account', alias_id: bob.alias, reason: 'rude' })
    const counts = {
      accounts: 2,
      messages: { waiting: 2, accounts: 1 },
      orders_pending: 1,
      reports_open: 1,
      database: { engine: engine.name },
      media: { blobs: 0, bytes: 0 },
      is_expiry_stopped: false,
    }
    const running = await figures()
    expect(running).toMatchObject({
      ...counts,
      relay: { connections: 1, storage: 'ok', payment_troubles: [], certificate_ends_at: null },
    })
    expect(running.messages.bytes).toBeGreaterThan(0)
    expect(running.database.bytes).toBeGreaterThan(0)
    expect(running.database.disk === null).toBe(engine.name === 'PostgreSQL')
    expect(running.media.disk?.free_bytes).toBeGreaterThan(0)
    await relay.kill('SIGTERM')
    expect(await figures()).toMatchObject({ ...counts, relay: null })
  }, 240_000)
}

test('the end of the certificate is that of the one that is served', async () => {
  const { cert, key } = certify(['relay.example'])
  const folder = await mkdtemp(join(tmpdir(), 'sotto-status-'))
  const files = { TLS_CERT: join(folder, 'cert.pem'), TLS_KEY: join(folder, 'key.pem') }
  await Bun.write(files.TLS_CERT, cert)
  await Bun.write(files.TLS_KEY, key)
  const relay = await startRelay({ env: { PUBLIC_URL: 'https://relay.example', ...files } })
  try {
    const status = await tellRelay({ DATA_DIR: relay.dataDir }, 'status', {})
    const hours = (Date.parse(status.relay?.certificate_ends_at ?? '') - Date.now()) / 3_600_000
    expect(hours).toBeWithin(20, 25)
  } finally {
    await relay.stop()
    await rm(folder, { recursive: true })
  }
}, 240_000)
