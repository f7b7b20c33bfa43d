// Media by a relay that lies: it sends elsewhere, answers what was not asked, too much or too little. Nothing of it is shown.
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { ClientError, Media } from '../src/client.ts'
import { intoFile } from '../src/media/into-file.ts'
import { MIB, noise } from './media-world.ts'
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
/** What is answered in the relay's place, where there is anything. */
let lie: { readonly to: string; readonly answer: Lie } | undefined
/** What came to where the relay sent bob. */
const elsewhere: Request[] = []

beforeAll(async () => {
  relay = await startRelay()
  folder = await mkdtemp(join(tmpdir(), 'sotto-hostile-'))
  liar = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      if (lie && request.url.includes(lie.to)) return lie.answer(request)
      elsewhere.push(request)
      return new Response('')
    },
  })
  const byTheLiar = (url: string, init: RequestInit): Promise<Response> =>
    fetch(lie && url.includes(lie.to) ? url.replace(relay.url, `http://127.0.0.1:${liar.port}`) : url, init)
  alice = await Person.join('alice', relay.url, { fetch: byTheLiar })
  bob = await Person.join('bob', relay.url, { fetch: byTheLiar })
  await alice.befriend(bob)
  media = { alice: new Media(alice.client), bob: new Media(bob.client) }
}, 60_000)
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

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'done'
  } catch (error) {
    if (!(error instanceof ClientError)) throw error
    return error.refusal ?? error.code
  }
}

function download(mediaKey: string, signal?: AbortSignal): Promise<string> {
  const into = intoFile(join(folder, 'out'))
  return codeOf(media.bob.downloadInto(alice.alias, { mediaKey }, { into, ...(signal ? { signal } : {}) }))
}

/** What the relay really has, for the range that is asked for. */
async function truth(request: Request): Promise<Response> {
  const url = new URL(request.url)
  return fetch(`${relay.url}${url.pathname}${url.search}`, { headers: request.headers })
}

function saying(response: Response, contentRange: string, body: BodyInit | null = response.body): Response {
  return new Response(body, { status: 206, headers: { 'content-range': contentRange } })
}

const to = '/media/download'

test('a relay that sends elsewhere is not followed, and the token goes nowhere', async () => {
  const { mediaKey } = await media.alice.upload(bob.alias, noise(10))
  let asked = 0
  lie = {
    to,
    answer: () => {
      asked += 1
      return Response.redirect(`http://127.0.0.1:${liar.port}/elsewhere`, 302)
    },
  }
  const ending = new AbortController()
  const downloading = download(mediaKey, ending.signal)
  await until('it has been asked twice', () => asked > 1)
  ending.abort()
  expect(await downloading).toBe('ABORTED')
  expect(elsewhere).toEqual([])
}, 30_000)

test('an answer that is not the range that was asked for is refused', async () => {
  const { mediaKey } = await media.alice.upload(bob.alias, noise(2 * CHUNK))
  const size = 2 * STORED_CHUNK
  const lies: Lie[] = [
    async (request) => new Response((await truth(request)).body), // The whole, without a word of ranges.
    async (request) => saying(await truth(request), `bytes 1-${STORED_CHUNK}/${size}`),
    async (request) => saying(await truth(request), `bytes 0-${STORED_CHUNK}/${size}`),
    async (request) => saying(await truth(request), `bytes 0-99/${size}`),
    async (request) => saying(await truth(request), `bytes 0-${STORED_CHUNK - 1}/*`),
    async (request) => saying(await truth(request), `bytes 0-${STORED_CHUNK - 1}/-1`),
    async (request) => saying(await truth(request), `bytes 0-${'9'.repeat(400)}/${'9'.repeat(400)}`),
  ]
  for (const answer of lies) {
    lie = { to, answer }
    expect(await download(mediaKey)).toBe('BAD_REPLY')
  }
}, 60_000)

test('a blob that is said to be huge is not begun, and one that changes its size on the way is refused', async () => {
  const { mediaKey } = await media.alice.upload(bob.alias, noise(2 * CHUNK))
  const huge = 2 ** 50
  lie = { to, answer: async (request) => saying(await truth(request), `bytes 0-${STORED_CHUNK - 1}/${huge}`) }
  expect(await download(mediaKey)).toBe('MEDIA_TOO_LARGE')
  lie = {
    to,
    answer: async (request) => {
      const told = await truth(request)
      const range = told.headers.get('content-range') ?? ''
      return saying(told, range.startsWith('bytes 0-') ? range : `${range}0`)
    },
  }
  expect(['MEDIA_ALTERED', 'BAD_REPLY']).toContain(await download(mediaKey))
}, 60_000)

test('an answer without an end is read as far as it was asked for, and no further', async () => {
  const { mediaKey } = await media.alice.upload(bob.alias, noise(10))
  let isEnded = false
  lie = {
    to,
    answer: async (request) => {
      const bytes = await (await truth(request)).bytes()
      let pulls = 0
      const endless = new ReadableStream<Uint8Array>({
        pull: async (controller) => {
          controller.enqueue(pulls === 0 ? bytes : new Uint8Array(MIB))
          pulls += 1
          await Bun.sleep(1)
        },
        cancel: () => {
          isEnded = true
        },
      })
      return saying(new Response(null), `bytes 0-${bytes.length - 1}/${bytes.length}`, endless)
    },
  }
  expect(await download(mediaKey)).toBe('done')
  await rm(join(folder, 'out'))
  await until('it is ended', () => isEnded)
}, 30_000)

test('chunks of nothing, without end, are ended by the size that was said', async () => {
  const { mediaKey } = await media.alice.upload(bob.alias, new Uint8Array(0))
  lie = {
    to,
    answer: async (request) => {
      const chunk = Buffer.from(await (await truth(request)).bytes())
      const blob = Buffer.concat(Array.from({ length: 2000 }, () => chunk))
      return saying(new Response(null), `bytes 0-${blob.length - 1}/${blob.length}`, blob)
    },
  }
  expect(await download(mediaKey)).toBe('MEDIA_ALTERED')
}, 30_000)

test('an upload that is answered with what is none is not sent', async () => {
  const ends = { key: 'm_0123456789012345678901', id: 'up_0123456789012345678901' }
  for (const [path, reply] of [
    ['/init', { upload_id: '../../me', media_key: ends.key }],
    ['/init', { upload_id: ends.id, media_key: 'm_x|' }],
    ['/chunk', { etag: 5 }],
    ['/chunk', {}],
    ['/complete', { media_key: ends.key, size: 1 }],
    ['/complete', { media_key: ends.key, size: -1 }],
    ['/complete', {}],
  ] as const) {
    lie = { to: path, answer: () => Response.json(reply) }
    expect([path, await codeOf(media.alice.upload(bob.alias, noise(10)))]).toEqual([path, 'BAD_REPLY'])
  }
}, 60_000)
