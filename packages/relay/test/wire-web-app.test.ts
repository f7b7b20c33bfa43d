// The web app as browsers get it: the page beside the text, headers, compression, caching, and nothing else
// of the disk.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { rawHttp, requestOf } from './raw.ts'
import { startRelay } from './relay-process.ts'
import { useRelay, useRelayWith } from './use-relay.ts'

const HTML = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' }
const INDEX = '<!doctype html><title>App</title>'
const SCRIPT = `export const text = '${'sotto '.repeat(200)}'`

let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-app-'))
  const app = join(folder, 'app')
  await mkdir(join(app, 'assets'), { recursive: true })
  await mkdir(join(app, 'icons'))
  await writeFile(join(folder, 'secret.txt'), 'not of the app')
  await writeFile(join(app, '.sources'), 'not served')
  await writeFile(join(app, 'index.html'), INDEX)
  await writeFile(join(app, 'assets/main-a1b2.js'), SCRIPT)
  await writeFile(join(app, 'assets/main-a1b2.js.br'), brotliCompressSync(SCRIPT))
  await writeFile(join(app, 'manifest.webmanifest'), '{}')
  await writeFile(join(app, 'icons/app.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

// `beforeAll` above runs first.
const relay = useRelayWith(async () => ({ APP_DIR: join(folder, 'app') }))

/** A request that decodes nothing by itself. */
function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
  return fetch(relay.url + path, { method, headers, decompress: false })
}

describe('at /', () => {
  test('browsers get the page, and programs the text', async () => {
    const page = await get('/', HTML)
    expect([page.status, page.headers.get('content-type'), await page.text()]).toEqual([
      200,
      'text/html; charset=utf-8',
      INDEX,
    ])
    for (const accept of ['*/*', 'text/plain', 'application/json', 'text/html;q=0, */*', 'text/htmlx']) {
      const text = await get('/', { accept })
      expect(await text.text()).toStartWith('Sotto relay ')
      expect(text.headers.get('vary')).toBe('Accept')
    }
    expect(page.headers.get('vary')).toBe('Accept, Accept-Encoding')
    expect(page.headers.get('cache-control')).toBe('no-cache')
  })

  test('the page may run its own scripts only, ask only this relay, and stand in no frame', async () => {
    const { headers } = await get('/', HTML)
    const policy = (headers.get('content-security-policy') ?? '').split('; ')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).toContain("connect-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("require-trusted-types-for 'script'")
    expect(policy).toContain('trusted-types sotto')
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
    expect(headers.get('permissions-policy')).toStartWith(
      'camera=(self), microphone=(self), display-capture=(self), accelerometer=()',
    )
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })
})

describe('files', () => {
  test('with a hash in their name are kept forever, all others are asked for again', async () => {
    const cacheOf = async (path: string) => (await get(path)).headers.get('cache-control')
    expect(await cacheOf('/assets/main-a1b2.js')).toBe('public, max-age=31536000, immutable')
    expect(await cacheOf('/manifest.webmanifest')).toBe('no-cache')
    expect(await cacheOf('/icons/app.svg')).toBe('no-cache')
    const { headers } = await get('/assets/main-a1b2.js')
    expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    // Workers take the policy of their own file.
    expect(headers.get('content-security-policy')).toContain("script-src 'self'")
  })

  test('are sent with Brotli to those who take it, and plain to others', async () => {
    for (const [accepted, isBrotli] of [
      ['gzip, deflate, br, zstd', true],
      ['br', true],
      ['br;q=0.5', true],
      ['br;q=0', false],
      ['gzip', false],
      ['brx', false],
    ] as const) {
      const answer = await get('/assets/main-a1b2.js', { 'accept-encoding': accepted })
      const bytes = Buffer.from(await answer.arrayBuffer())
      expect([accepted, answer.headers.get('content-encoding')]).toEqual([accepted, isBrotli ? 'br' : null])
      expect(bytes).toEqual(isBrotli ? brotliCompressSync(SCRIPT) : Buffer.from(SCRIPT))
      expect(answer.headers.get('vary')).toBe('Accept-Encoding')
    }
  })

  test('that the browser has are not sent again', async () => {
    for (const encoding of ['br', 'identity']) {
      const headers = { 'accept-encoding': encoding }
      const tag = (await get('/assets/main-a1b2.js', headers)).headers.get('etag') ?? ''
      expect(tag).toMatch(/^"[\w-]{43}"$/)
      for (const known of [tag, `W/${tag}`, `"other", ${tag}`]) {
        const again = await get('/assets/main-a1b2.js', { ...headers, 'if-none-match': known })
        expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', tag])
      }
      const other = await get('/assets/main-a1b2.js', { ...headers, 'if-none-match': '"other"' })
      expect(other.status).toBe(200)
    }
  })

  test('answer HEAD with the headers alone, and no other method', async () => {
    for (const [path, accept] of [
      ['/', HTML.accept],
      ['/icons/app.svg', '*/*'],
    ] as const) {
      const head = await get(path, { accept }, 'HEAD')
      const full = await get(path, { accept })
      expect([head.status, await head.text(), head.headers.get('etag')]).toEqual([
        200,
        '',
        full.headers.get('etag'),
      ])
    }
    expect((await get('/icons/app.svg', {}, 'POST')).status).toBe(405)
  })

  test('are those of the folder and nothing else', async () => {
    for (const path of [
      ...['/index.html', '/.sources', '/assets', '/assets/', '/assets/main-a1b2.js.br', '/secret.txt'],
      ...['/../secret.txt', '/assets/../../secret.txt', '/%2e%2e/secret.txt', '/..%2fsecret.txt'],
      ...['/assets/..%5c..%5csecret.txt', '/assets/%00', '//secret.txt', '/assets/main-A1B2.js'],
    ]) {
      const { status } = await rawHttp(relay.url, requestOf(`GET ${path}`, HTML))
      expect([path, status]).toEqual([path, 404])
    }
  })
})

describe('the rate of pages', () => {
  const slow = useRelayWith(async () => ({
    APP_DIR: join(folder, 'app'),
    RATE_LIMITS: 'on',
    RATE_PAGE: '2/600',
  }))

  test('counts files and the page of one address together', async () => {
    const statusOf = async (path: string) => (await fetch(slow.url + path, { headers: HTML })).status
    expect([await statusOf('/'), await statusOf('/icons/app.svg'), await statusOf('/')]).toEqual([
      200, 200, 429,
    ])
    expect((await fetch(slow.url)).status).toBe(200) // The text is no page.
  })
})

describe('a relay whose media are elsewhere', () => {
  const bucket = useRelayWith(async () => ({
    APP_DIR: join(folder, 'app'),
    PUBLIC_URL: 'https://relay.example',
    MEDIA_S3_BUCKET: 'media',
    MEDIA_S3_ENDPOINT: 'http://127.0.0.1:9',
    MEDIA_S3_PUBLIC_ENDPOINT: 'https://cdn.example',
    MEDIA_S3_PATH_STYLE: 'off',
    MEDIA_S3_ACCESS_KEY: 'x',
    MEDIA_S3_SECRET_KEY: 'x',
  }))

  test('lets the app load from there', async () => {
    const { headers } = await fetch(bucket.url, { headers: HTML })
    expect(headers.get('content-security-policy')).toContain(
      "connect-src 'self' https://relay.example https://media.cdn.example;",
    )
  })
})

describe('without an app', () => {
  const bare = useRelay()

  test('browsers get the text, too', async () => {
    const answer = await fetch(bare.url, { headers: HTML })
    expect(await answer.text()).toStartWith('Sotto relay ')
  })

  test('a folder that has none, or is not there, stops the start', async () => {
    for (const [path, reason] of [
      [folder, 'APP_DIR must be a folder with the built app, or off'],
      [join(folder, 'nowhere'), 'APP_DIR must be a folder that the relay can read, or off'],
    ] as const) {
      const error = await failureOf(startRelay({ env: { APP_DIR: path } }))
      expect(String(error)).toContain(reason)
    }
  })
})
