// The file of the security log: what is hashed, what is written once, and how it stays bounded.
import { afterAll, expect, test } from 'bun:test'
import { mkdtemp, readFile, rename, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recordingLog } from '../../test/payment-watch.ts'
import { openSecurityLog, type SecurityLog } from './security-log.ts'
import { SettingError } from './setting-error.ts'

const folder = await mkdtemp(join(tmpdir(), 'sotto-security-log-'))
afterAll(() => rm(folder, { recursive: true, force: true }))
const clock = { now: () => 0, monotonic: () => 0 }
let files = 0

function open(secret = 'one secret', mostBytes?: number) {
  const file = join(folder, `${files++}.log`)
  const { log, events } = recordingLog()
  const parts = { clock, log, secret: Buffer.from(secret), ...(mostBytes ? { mostBytes } : {}) }
  return { file, events, security: openSecurityLog(file, parts) }
}

async function linesOf(file: string): Promise<Record<string, unknown>[]> {
  return (await readFile(file, 'utf8'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

function login(security: SecurityLog, account: number, address = '192.0.2.1'): void {
  security.record('login', { account, address })
}

test('the same account and address are recognised by their hashes, which another key makes differently', async () => {
  const { file, security } = open()
  login(security, 1)
  login(security, 1, '192.0.2.2')
  login(security, 2)
  const [first, second, third] = await linesOf(file)
  expect(Object.keys(first ?? {})).toEqual(['time', 'event', 'address', 'account'])
  expect(first).toMatchObject({ time: '1970-01-01T00:00:00.000Z', event: 'login' })
  expect(first?.account).toMatch(/^[\w-]{16}$/)
  expect([second?.account, third?.address]).toEqual([first?.account, first?.address])
  expect(first?.account).not.toBe(third?.account)
  expect(first?.address).not.toBe(second?.address)
  expect(await readFile(file, 'utf8')).not.toContain('192.0.2')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const other = open('another secret')
  login(other.security, 1)
  expect((await linesOf(other.file))[0]?.account).not.toBe(first?.account)
})

test('a line that repeats is written once, and then how often it did', async () => {
  const { file, security } = open()
  for (let n = 0; n < 1000; n++) security.record('rate_reached', { rate: 'pow', address: '192.0.2.1' })
  security.record('rate_reached', { rate: 'pow', address: '192.0.2.2' })
  expect(await linesOf(file)).toHaveLength(2)
  security.sweep()
  security.sweep()
  const lines = await linesOf(file)
  expect(lines).toHaveLength(3)
  expect(lines[2]).toEqual({ ...lines[0], repeated: 999 })
  security.record('rate_reached', { rate: 'pow', address: '192.0.2.1' })
  expect(await linesOf(file)).toHaveLength(4)
})

test('commands with other inputs are no repetitions', async () => {
  const { file, security } = open()
  for (const about of ['a', 'b', 'b'])
    security.record('operator_command', { command: 'accounts.log-out', outcome: 'done' }, about)
  expect(await linesOf(file)).toHaveLength(2)
})

test('at its largest size the file is renamed, and replaces the one before it', async () => {
  const { file, security } = open('one secret', 1000)
  for (let account = 0; account < 100; account++) login(security, account)
  for (const name of [file, `${file}.1`]) {
    expect((await stat(name)).size).toBeLessThanOrEqual(1000)
    expect((await linesOf(name)).length).toBeGreaterThan(0)
  }
})

test('after it was moved away or cut short, the log goes on', async () => {
  const { file, security } = open()
  login(security, 1)
  await rename(file, `${file}.old`)
  login(security, 2)
  expect(await linesOf(file)).toHaveLength(1)
  await truncate(file)
  login(security, 3)
  expect(await linesOf(file)).toHaveLength(1)
})

test('a file that cannot be written is refused at the start, and complained of later', async () => {
  const { log, events } = recordingLog()
  const file = join(folder, 'absent', 'security.log')
  expect(() => openSecurityLog(file, { clock, log, secret: Buffer.of(1) })).toThrow(SettingError)
  const own = await mkdtemp(join(folder, 'own-'))
  const security = openSecurityLog(join(own, 'security.log'), { clock, log, secret: Buffer.of(1) })
  await rm(own, { recursive: true })
  login(security, 1)
  expect(events).toEqual([['warn', 'security_log_failed']])
})
