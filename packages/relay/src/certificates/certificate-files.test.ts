// The operator's certificate: what is refused at the start and why, what is only complained of, and a new one
// that cannot be put into use yet.
import { afterAll, afterEach, beforeAll, expect, jest, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { certify } from '../../test/certificate.ts'
import type { Log } from '../operations/log.ts'
import { openCertificateFiles } from './certificate-files.ts'

const DAY_MS = 24 * 3600 * 1000
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-certificate-'))
})
afterEach(() => {
  jest.useRealTimers()
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Writes the files. */
async function put({ cert, key }: { cert: string; key: string }) {
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  await Promise.all([Bun.write(files.cert, cert), Bun.write(files.key, key)])
  return files
}

/** Opens these files. */
async function openedSource(pair: { cert: string; key: string }, host: string, atMs: number) {
  const files = await put(pair)
  const logged: string[] = []
  const write = (event: string): void => void logged.push(event)
  const log: Log = { error: write, warn: write, info: write, debug: write }
  const source = openCertificateFiles(files, { host, clock: { now: () => atMs, monotonic: () => 0 }, log })
  expect(source.pair).toEqual({ cert: pair.cert, key: pair.key })
  return { source, logged }
}

/** Opens these files. @returns what it logged */
async function opened(pair: { cert: string; key: string }, host: string, atMs: number) {
  return (await openedSource(pair, host, atMs)).logged
}

/** The message of a refusal. */
async function refusal(pair: { cert: string; key: string }, host = 'relay.example'): Promise<string> {
  const ended = await opened(pair, host, Date.now()).catch((error) => error)
  return ended instanceof Error ? ended.message : 'it was taken'
}

test('a certificate of the host with its key is taken, for a name and for an IP address', async () => {
  const pair = certify(['relay.example', '192.0.2.7'])
  expect(await opened(pair, 'relay.example', Date.now())).toEqual([])
  expect(await opened(pair, '192.0.2.7', Date.now())).toEqual([])
})

test('one that has expired is served, and the log says so', async () => {
  const pair = certify(['relay.example'])
  expect(await opened(pair, 'relay.example', Date.now() + 2 * DAY_MS)).toEqual(['certificate_expired'])
})

test('others are refused with the reason, which quotes no key', async () => {
  const pair = certify(['relay.example'])
  expect(await refusal(pair, 'other.example')).toBe(
    'TLS_CERT must be a file with a certificate, and TLS_KEY its key: it is not for other.example, but for DNS:relay.example',
  )
  expect(await refusal(pair, '192.0.2.8')).toContain('it is not for 192.0.2.8')
  expect(await refusal({ ...pair, key: certify(['relay.example']).key })).toContain('another one')
  expect(await refusal({ ...pair, key: 'secret' })).toMatch(/there is no private key in PEM$/)
  expect(await refusal({ ...pair, cert: '' })).toContain('there is no certificate in PEM')
})

test('a new one that cannot be put into use is tried until it can, and the log says so once', async () => {
  jest.useFakeTimers()
  const { source, logged } = await openedSource(certify(['relay.example']), 'relay.example', Date.now())
  const [taken, next] = [[] as string[], certify(['relay.example'])]
  let failures = 4
  source.watch(({ cert }) => {
    if (failures-- > 0) throw new Error('EMFILE')
    taken.push(cert)
  })
  await put(next)
  for (let look = 0; look < 4; look++) jest.advanceTimersByTime(1000)
  expect([taken, logged]).toEqual([[], ['certificate_failed']])
  for (let look = 0; look < 4; look++) jest.advanceTimersByTime(1000)
  expect([taken, logged]).toEqual([[next.cert], ['certificate_failed', 'certificate_replaced']])
  source.stop()
})
