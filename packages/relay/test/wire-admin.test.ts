// The door of the admin page: who gets in, for how long, and what others are told.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { tellRelay } from '../src/operator.ts'
import { AdminDoor, writeAdminPage } from './admin-door.ts'
import { findFreePort } from './free-port.ts'
import { useRelayWith } from './use-relay.ts'

const HOURS_MS = 3_600_000
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-admin-'))
  await writeAdminPage(join(folder, 'admin'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const SECRETS = {
  TURN_URLS: 'turn:turn.example:3478',
  TURN_SECRET: 'a secret of sixteen or more',
  EVM_EXPLORER_URL: 'https://explorer.example/key-in-the-path/tx/',
}
const relay = useRelayWith(async () => ({
  ...SECRETS,
  ADMIN_DIR: join(folder, 'admin'),
  APP_DIR: join(folder, 'admin'),
  LOG_LEVEL: 'info',
}))

function door(): AdminDoor {
  return new AdminDoor({ DATA_DIR: relay.process.dataDir })
}

async function entered(): Promise<AdminDoor> {
  const opened = door()
  await opened.enters()
  return opened
}

describe('a link', () => {
  test('begins one session, and is good once', async () => {
    const page = door()
    const secret = await page.opens()
    const body = JSON.stringify({ secret })
    const first = await page.sends('/session', { body })
    expect(first.status).toBe(200)
    expect(JSON.parse(first.body)).toEqual({ session: expect.stringMatching(/^[\w-]{43}$/) })
    // Browsers send a cookie to every port of the machine.
    expect(first.head.toLowerCase()).not.toContain('set-cookie')
    const again = await page.sends('/session', { body })
    expect([again.status, again.body.includes('session')]).toEqual([401, false])
  })

  test('is good for five minutes, and its session for eight hours', async () => {
    const page = door()
    const late = await page.opens()
    await relay.process.letPass(5 * 60_000 + 1)
    expect((await page.sends('/session', { body: JSON.stringify({ secret: late }) })).status).toBe(401)
    await page.enters()
    await relay.process.letPass(8 * HOURS_MS - 1000)
    expect((await page.sends('/commands/status')).status).toBe(200)
    await relay.process.letPass(1001)
    expect((await page.sends('/commands/status')).status).toBe(401)
  })

  test('that was guessed, or is none, begins nothing', async () => {
    const page = door()
    const secret = await page.opens()
    const guesses = [secret.slice(1), `${secret}a`, secret.toUpperCase(), '', null, 7, {}, '__proto__']
    for (const guess of guesses)
      expect((await page.sends('/session', { body: JSON.stringify({ secret: guess }) })).status).toBe(401)
    for (const body of ['', '[]', '"', '{"secret"']) {
      const { status, body: answer } = await page.sends('/session', { body })
      expect([400, 401]).toContain(status)
      expect(answer).not.toContain('session')
    }
    expect((await page.sends('/session', { body: JSON.stringify({ secret }) })).status).toBe(200)
  })
})

describe('what others send', () => {
  test('under another name of this machine is refused, whatever it asks for', async () => {
    const page = await entered()
    const { port } = new URL(page.url)
    for (const host of [
      ...['relay.example', `relay.example:${port}`, `rebound.example:${port}`, '127.0.0.1', 'localhost'],
      ...[`127.0.0.1.rebound.example:${port}`, `127.0.0.2:${port}`, `127.0.0.1:${Number(port) + 1}`, ''],
    ]) {
      for (const [method, path] of [
        ['GET', '/'],
        ['POST', '/commands/status'],
        ['POST', '/session'],
      ] as const) {
        const { status, body } = await page.sends(path, {
          method,
          headers: { host, origin: `http://${host}` },
        })
        // Without a host, the server itself refuses the request.
        expect([host, path, status]).toEqual([host, path, host === '' ? status : 421])
        expect(body).not.toContain('version')
        expect(body).not.toContain('<')
      }
    }
    const { host } = new URL(page.url)
    const named = {
      host: host.replace('127.0.0.1', 'localhost'),
      origin: page.url.replace('127.0.0.1', 'localhost'),
    }
    expect((await page.sends('/commands/status', { headers: named })).status).toBe(200)
  })

  test('from another origin is refused, also with the session, and also as a form', async () => {
    const page = await entered()
    const { port } = new URL(page.url)
    for (const origin of [
      ...[
        'https://evil.example',
        'null',
        '',
        `https://127.0.0.1:${port}`,
        `http://127.0.0.1:${Number(port) + 1}`,
      ],
      ...[`http://localhost:${port}`, `http://127.0.0.1:${port}.evil.example`, relay.url],
    ]) {
      for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'application/json']) {
        const { status } = await page.sends('/commands/status', {
          body: '{}',
          headers: { origin, 'content-type': type },
        })
        expect([origin, status]).toEqual([origin, 403])
      }
      expect((await page.sends('/session/end', { headers: { origin } })).status).toBe(403)
    }
    expect((await page.sends('/commands/status')).status).toBe(200)
  })

  test('without a session, with a guessed one, or with it in a cookie, is refused', async () => {
    const page = await entered()
    const value = page.session ?? ''
    for (const session of [
      ...[undefined, '', value.slice(1), `${value}a`, value.toLowerCase(), `${value} ${value}`],
      ...['undefined', '__proto__'],
    ])
      expect([session, (await page.sends('/commands/status', { session })).status]).toEqual([session, 401])
    for (const headers of [{ authorization: value }, { cookie: `session=${value}` }]) {
      const { status } = await page.sends('/commands/status', { session: undefined, headers })
      expect([headers, status]).toEqual([headers, 401])
    }
    expect((await page.sends('/commands/status')).status).toBe(200)
  })

  test('of a session that has ended, or that somebody else has ended for all, is refused', async () => {
    const [one, other] = [await entered(), await entered()]
    expect((await one.sends('/session/end')).status).toBe(200)
    expect((await one.sends('/commands/status')).status).toBe(401)
    expect((await other.sends('/commands/status')).status).toBe(200)
    const secret = await one.opens()
    expect(await one.closes()).toEqual({ was_open: true })
    await one.opens({ port: Number(new URL(one.url).port) })
    expect((await other.sends('/commands/status')).status).toBe(401)
    expect((await one.sends('/session', { body: JSON.stringify({ secret }) })).status).toBe(401)
  })

  test('carries out no command that is not of the page, and nothing by another method', async () => {
    const page = await entered()
    const paths = [
      'admin.open',
      'admin.close',
      'keys.rotate',
      'toString',
      '__proto__',
      'constructor',
      '',
      '..',
    ]
    for (const name of paths) expect((await page.sends(`/commands/${name}`)).status).toBe(404)
    for (const method of ['GET', 'HEAD'])
      expect((await page.sends('/commands/status', { method })).status).toBe(404)
    for (const method of ['PUT', 'DELETE', 'OPTIONS', 'PATCH'])
      expect((await page.sends('/commands/status', { method })).status).toBe(405)
    const large = JSON.stringify({ text: 'x'.repeat(64 * 1024) })
    expect((await page.sends('/commands/status', { body: large })).status).toBe(413)
  })

  test('does not reach the page at the port of clients', async () => {
    const page = await entered()
    for (const path of ['/commands/status', '/session']) {
      const answer = await fetch(relay.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${page.session}` },
      })
      expect(answer.status).toBe(404)
    }
  })
})

describe('the port', () => {
  test('is closed until somebody asks for it, and again when nobody can use it any more', async () => {
    const page = door()
    await page.closes()
    expect(await page.closes()).toEqual({ was_open: false })
    const port = await findFreePort()
    await page.opens({ port })
    expect(page.url).toBe(`http://127.0.0.1:${port}`)
    expect((await page.sends('/', { method: 'GET' })).status).toBe(200)
    await relay.process.letPass(8 * HOURS_MS)
    // Nothing tells when a pass of the maintenance ends, and one is skipped while another runs.
    for (;;) {
      await relay.process.maintain()
      const failure = await page.sends('/', { method: 'GET' }).catch((error) => error)
      if (failure instanceof Error) break
      await Bun.sleep(20)
    }
    expect(await page.closes()).toEqual({ was_open: false })
  })

  test('that is taken, or another one than the open one, is refused in one sentence', async () => {
    const page = door()
    await page.closes()
    const taken = Number(new URL(relay.url).port)
    expect(String(await failureOf(page.opens({ port: taken })))).toContain(
      '--port must be a port of 127.0.0.1 on which nothing else listens',
    )
    await page.opens()
    expect(String(await failureOf(page.opens({ port: taken })))).toContain('sotto admin --close closes it')
    await page.opens({ port: Number(new URL(page.url).port) })
  })

  test('serves the files of the page, with the rules of the app, and keeps none in a cache', async () => {
    const page = door()
    await page.opens()
    for (const [path, type] of [
      ['/', 'text/html'],
      ['/assets/main-a1b2.js', 'text/javascript'],
    ] as const) {
      const { status, head } = await page.sends(path, { method: 'GET' })
      expect([path, status]).toEqual([path, 200])
      const lower = head.toLowerCase()
      expect(lower).toContain(`content-type: ${type}`)
      expect(lower).toContain('cache-control: no-store')
      expect(lower).toContain("content-security-policy: default-src 'none'; script-src 'self'")
      expect(lower).toContain("frame-ancestors 'none'")
      expect(lower).toContain("require-trusted-types-for 'script'")
      expect(lower).toContain('x-frame-options: deny')
      expect(lower).toContain('referrer-policy: no-referrer')
      expect(lower).toContain('x-content-type-options: nosniff')
    }
    for (const path of ['/index.html', '/../index.html', '/assets/', '/assets/%2e%2e/index.html'])
      expect([path, (await page.sends(path, { method: 'GET' })).status]).toEqual([path, 404])
  })
})

describe('the commands of the page', () => {
  const answerTo = async (page: AdminDoor, command: string) => {
    const { status, body } = await page.sends(`/commands/${command}`)
    expect([command, status]).toEqual([command, 200])
    return JSON.parse(body).answer
  }

  test('status says what sotto status says', async () => {
    const page = await entered()
    const environment = { DATA_DIR: relay.process.dataDir }
    const { version, accounts, relay: running } = await tellRelay(environment, 'status', {})
    expect(await answerTo(page, 'status')).toMatchObject({
      version,
      accounts,
      relay: { connections: running?.connections },
    })
  })

  test('settings has all that are in force, and no secret', async () => {
    const page = await entered()
    const { body } = await page.sends('/commands/settings')
    const settings: { name: string; value: string | null; is_set: boolean }[] = JSON.parse(body).answer
    const of = (name: string) => settings.find((each) => each.name === name)
    expect(of('TURN_URLS')).toMatchObject({ value: SECRETS.TURN_URLS, is_set: true })
    expect(of('TURN_SECRET')).toMatchObject({ value: null, is_set: true })
    expect(of('EVM_EXPLORER_URL')).toMatchObject({ value: 'https://explorer.example/…', is_set: true })
    expect(of('DATABASE_URL')).toMatchObject({ value: '', is_set: false })
    expect(of('RATE_LIMITS')).toMatchObject({ value: 'off', is_set: true })
    expect(of('RATE_PAGE')?.value).toMatch(/^\d+\/\d+$/)
    expect(of('LIMIT_POW_DIFFICULTY')).toMatchObject({ value: '1', is_set: true })
    expect(body).not.toContain(SECRETS.TURN_SECRET)
    expect(body).not.toContain('key-in-the-path')
  })

  test('log has the latest lines, without the secrets of links and sessions', async () => {
    const page = door()
    const secret = await page.opens({ who: 'grace' })
    await page.sends('/session', { body: '{"secret":"wrong"}' })
    await page.enters('grace')
    const { body } = await page.sends('/commands/log')
    const [latest, ...earlier] = JSON.parse(body).answer
    expect(latest).toMatchObject({ level: 'info', event: 'admin_session_begun', fields: { reason: 'grace' } })
    expect(earlier.slice(0, 3)).toMatchObject([
      { level: 'info', event: 'admin_link_made', fields: { reason: 'grace' } },
      { level: 'warn', event: 'admin_refused', fields: { reason: 'link' } },
      { level: 'info', event: 'admin_link_made' },
    ])
    for (const hidden of [secret, page.session ?? '?'])
      expect([body, relay.process.errors()].join()).not.toContain(hidden)
  })
})

describe('without a page', () => {
  const bare = useRelayWith(async () => ({ ADMIN_DIR: 'off' }))

  test('a relay, and a command without a relay, say so', async () => {
    const environment = { DATA_DIR: bare.process.dataDir }
    const open = () => failureOf(tellRelay(environment, 'admin.open', { who: 'ada' }))
    expect(String(await open())).toContain('the relay has no admin page: its setting ADMIN_DIR is off')
    await bare.process.kill('SIGTERM')
    expect(String(await open())).toContain('no relay runs on this data folder')
  })
})
