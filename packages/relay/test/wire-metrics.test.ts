// The metrics of a real relay: what they count, what they never name, and that the documents have them all.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tellRelay } from '../src/operator.ts'
import { certify } from './certificate.ts'
import { engines } from './engines.ts'
import { findFreePort } from './free-port.ts'
import { eventually } from './payment-watch.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { scrape } from './scrape.ts'
import { call, message, wireFriends } from './wire.ts'

setDefaultTimeout(240_000)
const ROOT = join(import.meta.dir, '../../..')
const own = certify(['127.0.0.1'])
let folder = ''
/** One that people use, and one with TLS and rates. */
let port = 0
let tlsPort = 0
let relay: RelayProcess
let tlsRelay: RelayProcess

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-metrics-'))
  await Bun.write(join(folder, 'cert.pem'), own.cert)
  await Bun.write(join(folder, 'key.pem'), own.key)
  port = await findFreePort()
  relay = await startRelay({ env: { METRICS_PORT: String(port) } })
  tlsPort = await findFreePort()
  tlsRelay = await startRelay({
    env: {
      ...{ METRICS_PORT: String(tlsPort), RATE_LIMITS: 'on', RATE_POW: '1/1000000' },
      ...{ PUBLIC_URL: 'https://127.0.0.1', TLS_CERT: join(folder, 'cert.pem') },
      TLS_KEY: join(folder, 'key.pem'),
    },
  })
})
afterAll(async () => {
  await relay?.stop()
  await tlsRelay?.stop()
  await rm(folder, { recursive: true, force: true })
})

test('frames, commits, acks, deliveries, connections, requests and errors are counted', async () => {
  const { alice, bob, conv } = await wireFriends(relay.url)
  const { socket: hers } = await alice.online()
  const { socket: his } = await bob.online()
  const before = await scrape(port)
  for (const text of ['one', 'two', 'three']) {
    hers.send(message(bob.alias, conv, text))
    await hers.next('ack')
    await his.next('msg')
  }
  hers.send({ type: 'msg', id: 'not an id' })
  await hers.next('error')
  const after = await scrape(port)
  const grown = (sample: string): number => after.value(sample) - before.value(sample)

  expect(grown('sotto_frames_received_total{type="msg"}')).toBe(3)
  expect(grown('sotto_ack_seconds_count')).toBe(3)
  expect(grown('sotto_ack_seconds_sum')).toBeGreaterThan(0)
  expect(grown('sotto_commit_frames_sum')).toBeGreaterThanOrEqual(3)
  expect(grown('sotto_commit_seconds_count')).toBe(grown('sotto_commit_frames_count'))
  expect(grown('sotto_delivery_seconds_count')).toBe(grown('sotto_commit_seconds_count'))
  expect(grown('sotto_frames_sent_total')).toBeGreaterThanOrEqual(7)
  expect(grown('sotto_errors_total{code="INVALID_FIELD"}')).toBe(1)
  expect(after.value('sotto_connections')).toBe(2)
  expect(after.value('sotto_http_requests_total{endpoint="register",status="2xx"}')).toBe(2)
  expect(after.value('sotto_commits_failed_total')).toBe(0)
  expect(after.value('sotto_database_bytes')).toBeGreaterThan(0)
  expect(after.value('sotto_media_bytes')).toBe(0)
  expect(after.value('sotto_disk_free_bytes{disk="database"}')).toBeGreaterThan(0)
  expect(after.value('sotto_disk_size_bytes{disk="media"}')).toBeGreaterThan(
    after.value('sotto_disk_free_bytes{disk="media"}'),
  )
  expect(after.value('sotto_storage_state{state="ok"}')).toBe(1)
  expect(after.value('sotto_storage_state{state="full"}')).toBe(0)
  expect(after.value('process_cpu_seconds_total')).toBeGreaterThan(0)
  expect(after.value('process_open_fds')).toBeGreaterThan(0)

  for (const { uuid, alias, token, ed25519 } of [alice, bob])
    for (const secret of [uuid, alias, token, ed25519, conv]) expect(after.text).not.toContain(secret)

  await hers.close()
  await his.close()
  await eventually(async () => expect((await scrape(port)).value('sotto_connections')).toBe(0))
})

test('a request that is answered with an error is counted by endpoint, status and code', async () => {
  const before = await scrape(port)
  await call(`${relay.url}/api/v1/friends`)
  await call(`${relay.url}/nowhere-in-particular`)
  const after = await scrape(port)
  const grown = (sample: string): number => after.value(sample) - before.value(sample)
  expect(grown('sotto_errors_total{code="UNAUTHENTICATED"}')).toBe(1)
  expect(grown('sotto_errors_total{code="NOT_FOUND"}')).toBe(1)
  expect(after.value('sotto_http_requests_total{endpoint="unknown",status="4xx"}')).toBe(1)
  expect(after.text).not.toContain('nowhere-in-particular')
})

test('reports are counted until the operator has marked them as done', async () => {
  const { alice, bob } = await wireFriends(relay.url)
  await alice.report({ about: 'account', alias_id: bob.alias, reason: 'rude' })
  await bob.report({ about: 'account', alias_id: alice.alias, reason: 'ruder' })
  expect((await scrape(port)).value('sotto_open_reports')).toBe(2)
  const environment = { DATA_DIR: relay.dataDir }
  const [{ id } = { id: 0 }] = await tellRelay(environment, 'reports.list', {})
  await tellRelay(environment, 'reports.done', { id, who: 'op' })
  expect((await scrape(port)).value('sotto_open_reports')).toBe(1)
})

test('how late the event loop runs its timers is measured while nobody asks', async () => {
  await eventually(async () => {
    expect((await scrape(port)).value('sotto_event_loop_delay_seconds_count')).toBeGreaterThan(0)
  })
})

test('a store that hangs is asked once, however often the metrics are read', async () => {
  const [, postgres] = engines
  const settings = (await postgres?.environment()) ?? {}
  const hungPort = await findFreePort()
  const hung = await startRelay({ env: { ...settings, METRICS_PORT: String(hungPort) } })
  await using sql = new Bun.SQL(settings.DATABASE_URL ?? '', { max: 2 })
  const holder = await sql.reserve()
  try {
    await holder`BEGIN`
    await holder`LOCK TABLE media_total IN ACCESS EXCLUSIVE MODE`
    for (const { names } of await Promise.all(Array.from({ length: 6 }, () => scrape(hungPort))))
      expect(names).not.toContain('sotto_media_bytes')
    const waiting = await sql`
      SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'media_total'::regclass`
    expect(waiting.length).toBeGreaterThan(0)
    expect(waiting.length).toBeLessThan(3) // The check of the free space reads it, too.
    await holder`ROLLBACK`
    await eventually(async () => expect((await scrape(hungPort)).value('sotto_media_bytes')).toBe(0))
    expect((await scrape(hungPort)).value('sotto_log_events_total{event="metric_unread"}')).toBe(1)
  } finally {
    holder.release()
    await hung.stop()
  }
})

test('the end of the certificate and the rates that were reached are told', async () => {
  const open = (): Promise<Response> =>
    fetch(`${tlsRelay.url}/api/v1/pow/challenge`, { method: 'POST', tls: { ca: own.authority } })
  expect([(await open()).status, (await open()).status]).toEqual([200, 429])
  const { value } = await scrape(tlsPort)
  const { validFrom, validTo } = new X509Certificate(own.cert)
  expect(value('sotto_certificate_start_timestamp_seconds')).toBe(Date.parse(validFrom) / 1000)
  expect(value('sotto_certificate_end_timestamp_seconds')).toBe(Date.parse(validTo) / 1000)
  expect(value('sotto_rates_reached_total{rate="pow"}')).toBe(1)
  expect(value('sotto_errors_total{code="RATE_LIMITED"}')).toBe(1)
  expect(value('sotto_log_lines_total{level="warn"}')).toBe(1)
  expect(value('sotto_log_events_total{event="rate_exceeded"}')).toBe(1)
})

test('the port of metrics has nothing else, and the port of clients has no metrics', async () => {
  expect((await call(`http://127.0.0.1:${port}/`)).status).toBe(404)
  expect((await call(`http://127.0.0.1:${port}/health`)).status).toBe(404)
  expect((await call(`http://127.0.0.1:${port}/metrics`, { method: 'POST' })).status).toBe(404)
  expect((await call(`${relay.url}/metrics`)).status).toBe(404)
})

test('docs/metrics.md names every metric, and none that is not there', async () => {
  const document = await Bun.file(join(ROOT, 'docs/metrics.md')).text()
  const named = Array.from(document.matchAll(/^\| `(\w+)`/gm), ([, name = '']) => name)
  const { names } = await scrape(tlsPort)
  expect(named.toSorted()).toEqual(names.toSorted())
})

test('the alerts and the dashboard use only metrics that exist, with the values of labels that they have', async () => {
  const { names, text } = await scrape(tlsPort)
  for (const file of ['deploy/prometheus/alerts.yml', 'deploy/grafana/dashboard.json']) {
    const rules = (await Bun.file(join(ROOT, file)).text()).replaceAll('\\"', '"')
    const used = new Set(rules.match(/\b(?:sotto|process)_\w+/g))
    expect(used.size).toBeGreaterThan(10)
    const series = [...used].map((name) => name.replace(/_(?:bucket|sum|count)$/, ''))
    expect(series.filter((name) => !names.includes(name))).toEqual([])
    for (const [pair] of rules.matchAll(/\b(?:state|level|code|outcome)="\w+"/g)) expect(text).toContain(pair)
  }
})
