// Media from a lying relay: it redirects, answers with another range, sends too much or too little. The
// client shows nothing of it.
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { Media } from '../src/client.ts'
import { intoFile } from '../src/media/into-file.ts'
import { codeOf, MIB, noise } from './media-world.ts'
import { Person, until } from './people.ts'

const CHUNK = 5 * MIB
const STORED_CHUNK = CHUNK + 32

type Lie = (request: Request) => Response | Promise<Response>

let relay: RelayProcess
let liar: Bun.Server<undefined>
let folder: string
let alice: Person
let bob: Person
let media: { alice: Media; bob: Media }
/** The answer that replaces the relay's for requests whose URL contains `to`, if any. */
let lie: { readonly to: string; readonly answer: Lie } | undefined
/** The requests that followed a redirect. */
const redirected: Request[] = []

beforeAll(async () => {
  relay = await startRelay()
  folder = await mkdtemp(join(tmpdir(), 'sotto-hostile-'))
  liar = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      if (lie && request.url.includes(lie.to)) return lie.answer(request)
      redirected.push(request)
      return new Response('')
    },
  })
  const fetchOrLie = (url: string, init: RequestInit): Promise<Response> =>
    fetch(lie && url.includes(lie.to) ? url.replace(relay.url, `http://127.0.0.1:${liar.port}`) : url, init)
  alice = await Person.join('alice', relay.url, { fetch: fetchOrLie })
  bob = await Person.join('bob', relay.url, { fetch: fetchOrLie })
  await alice.befriend(bob)
  media = { alice: new Media(alice.client), bob: new Media(bob.client) }
}, 120_000)
afterAll(async () => {
  await Promise.all([alice.client.close(), bob.client.close()])
  await liar.stop(true)
  await relay.stop()
  await rm(folder, { recursive: true })
})
afterEach(async () => {
  lie = undefined
  expect(await readdir(folder)).toEqual([])
})

function download(mediaKey: string, signal?: AbortSignal): Promise<string> {
  const into = intoFile(join(folder, 'out'))
  return codeOf(media.bob.downloadInto(alice.alias, { mediaKey }, { into, ...(signal ? { signal } : {}) }))
}

/** The real relay's answer to the request. */
async function trueAnswer(request: Request): Promise<Response> {
  const url = new URL(request.url)
  return fetch(`${relay.url}${url.pathname}${url.search}`, { headers: request.headers })
}

function withRange(
  response: Response,
  contentRange: string,
  body: BodyInit | null = response.body,
): Response {
  return new Response(body, { status: 206, headers: { 'content-range': contentRange } })
}

const to = '/media/download'

test('the client does not follow a redirect, so its token stays with the relay', async () => {
  const { mediaKey } = await media.alice.upload(bob.alias, noise(10))
  let requests = 0
  lie = {
    to,
    answer: () => {
      requests += 1
      return Response.redirect(`http://127.0.0.1:${liar.port}/elsewhere`, 302)
    },
  }
  const ending = new AbortController()
  const downloading = download(mediaKey, ending.signal)
  await until('the client has requested the blob twice', () => requests > 1)
  ending.abort()
  expect(await downloading).toBe('ABORTED')
  expect(redirected).toEqual([])
}, 120_000)

test('the client refuses an answer with another range than the requested one', async () => {
  const { mediaKey } = await media.alice.upload(bob.alias, noise(2 * CHUNK))
  const size = 2 * STORED_CHUNK
  const lies: Lie[] = [
    async (request) => new Response((await trueAnswer(request)).body), // No content-range header.
    async (request) => withRange(await trueAnswer(request), `bytes 1-${STORED_CHUNK}/${size}`),
    async (request) => withRange(await trueAnswer(request), `bytes 0-${STORED_CHUNK}/${size}`),
    async (request) => withRange(await trueAnswer(request), `bytes 0-99/${size}`),
    async (request) => withRange(await trueAnswer(request), `bytes 0-${STORED_CHUNK - 1}/*`),
    async (request) => withRange(await trueAnswer(request), `bytes 0-${STORED_CHUNK - 1}/-1`),
    async (request) => withRange(await trueAnswer(request), `bytes 0-${'9'.repeat(400)}/${'9'.repeat(400)}`),
  ]
  for (const answer of lies) {
    lie = { to, answer }
    expect(await download(mediaKey)).toBe('BAD_REPLY')
  }
}, 120_000)

test('the client refuses a blob with a huge announced size, and a blob whose size changes during the download', async () => {
  const { mediaKey } = await media.alice.upload(bob.alias, noise(2 * CHUNK))
  const huge = 2 ** 50
  lie = {
    to,
    answer: async (request) => withRange(await trueAnswer(request), `bytes 0-${STORED_CHUNK - 1}/${huge}`),
  }
  expect(await download(mediaKey)).toBe('MEDIA_TOO_LARGE')
  lie = {
    to,
    answer: async (request) => {
      const real = await trueAnswer(request)
      const range = real.headers.get('content-range') ?? ''
      return withRange(real, range.startsWith('bytes 0-') ? range : `${range}0`)
    },
  }
  expect(['MEDIA_ALTERED', 'BAD_REPLY']).toContain(await download(mediaKey))
}, 120_000)

test('the client reads only the requested range of an endless answer', async () => {
  const { mediaKey } = await media.alice.upload(bob.alias, noise(10))
  let isCancelled = false
  lie = {
    to,
    answer: async (request) => {
      const bytes = await (await trueAnswer(request)).bytes()
      let pulls = 0
      const endless = new ReadableStream<Uint8Array>({
        pull: async (controller) => {
          controller.enqueue(pulls === 0 ? bytes : new Uint8Array(MIB))
          pulls += 1
          await Bun.sleep(1)
        },
        cancel: () => {
          isCancelled = true
        },
      })
      return withRange(new Response(null), `bytes 0-${bytes.length - 1}/${bytes.length}`, endless)
    },
  }
  expect(await download(mediaKey)).toBe('done')
  await rm(join(folder, 'out'))
  await until('the client has cancelled the answer', () => isCancelled)
}, 120_000)

test('the client refuses a blob of many empty chunks', async () => {
  const { mediaKey } = await media.alice.upload(bob.alias, new Uint8Array(0))
  lie = {
    to,
    answer: async (request) => {
      const chunk = Buffer.from(await (await trueAnswer(request)).bytes())
      const blob = Buffer.concat(Array.from({ length: 2000 }, () => chunk))
      return withRange(new Response(null), `bytes 0-${blob.length - 1}/${blob.length}`, blob)
    },
  }
  expect(await download(mediaKey)).toBe('MEDIA_ALTERED')
}, 120_000)

test('an upload fails with BAD_REPLY if the relay’s answer is invalid', async () => {
  const valid = { key: 'm_0123456789012345678901', id: 'up_0123456789012345678901' }
  for (const [path, reply] of [
    ['/init', { upload_id: '../../me', media_key: valid.key }],
    ['/init', { upload_id: valid.id, media_key: 'm_x|' }],
    ['/chunk', { etag: 5 }],
    ['/chunk', {}],
    ['/complete', { media_key: valid.key, size: 1 }],
    ['/complete', { media_key: valid.key, size: -1 }],
    ['/complete', {}],
  ] as const) {
    lie = { to: path, answer: () => Response.json(reply) }
    expect([path, await codeOf(media.alice.upload(bob.alias, noise(10)))]).toEqual([path, 'BAD_REPLY'])
  }
}, 120_000)
