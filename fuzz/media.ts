// The part that attacks media: parts in any order, cut off, of wrong lengths; links, ranges, completions and
// cancellations. What is downloaded must be what was uploaded, and nothing may count for ever.
import { Database } from 'bun:sqlite'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Begun, bytesOf, MediaAccount, sendHalfPart } from '../packages/relay/test/media-wire.ts'
import { type Answer, call } from '../packages/relay/test/wire.ts'
import { type Draws, Finding, type Inputs } from './inputs.ts'
import type { Part } from './part.ts'
import { attackRelay, type Target } from './target.ts'
import { anyText, mutated } from './values.ts'

const LANES = 6
const MOST_STEPS = 60
const MIB = 1024 * 1024
const SETTINGS = {
  LIMIT_MEDIA_BYTES: `${MIB}`,
  LIMIT_MEDIA_ACCOUNT_BYTES: `${3 * MIB}`,
  LIMIT_MEDIA_UPLOADS: '20',
}

export const media: Part = {
  name: 'media',
  means: 'uploads in parts and by links, downloads, ranges, completions and cancellations',
  share: 2,
  run: (inputs, engine) =>
    attackRelay(inputs, { engine, settings: SETTINGS }, async (target) => {
      await inputs.inLanes(LANES, async (index, draws) => {
        const account = await MediaAccount.make(target.url)
        await new Uploads(index, draws, inputs, account).play()
      })
      if (engine.name === 'SQLite') await expectNothingLeft(target)
    }),
}

interface Upload {
  readonly begun: Begun
  /** The content of each part whose upload was acknowledged last; undefined if that is not known. */
  readonly parts: Map<number, Uint8Array<ArrayBuffer> | undefined>
}

interface Link {
  readonly url: string
  readonly key: string
  readonly size: number | undefined
}

/** One account and its blobs. */
class Uploads {
  readonly #index: number
  readonly #draws: Draws
  readonly #inputs: Inputs
  readonly #own: MediaAccount
  readonly #uploads: Upload[] = []
  readonly #links: Link[] = []
  readonly #blobs = new Map<string, Uint8Array>()

  constructor(index: number, draws: Draws, inputs: Inputs, own: MediaAccount) {
    this.#index = index
    this.#draws = draws
    this.#inputs = inputs
    this.#own = own
  }

  async play(): Promise<void> {
    for (let step = this.#draws.whole(5, MOST_STEPS); step > 0 && !this.#inputs.isOver; step--)
      await this.#step()
    for (const { begun } of this.#uploads) this.#expect(await this.#own.abort(begun), [200, 404])
    const least = [...this.#blobs.values()].reduce((sum, { length }) => sum + length, 0)
    const reserved = this.#links.reduce((sum, { size }) => sum + (size ?? MIB), 0)
    await until('what was cancelled no longer counts', async () => {
      const used = await this.#own.usedBytes()
      return used >= least && used <= least + reserved
    })
    this.#expect(await this.#own.account.bare('DELETE', '/me'), [200])
  }

  async #step(): Promise<void> {
    const dice = this.#draws.whole(0, 99)
    const upload = this.#uploads.length > 0 ? this.#draws.pick(this.#uploads) : undefined
    if (!upload || dice < 8) await this.#begin()
    else if (dice < 40) await this.#putPart(upload)
    else if (dice < 46) await this.#cutOff(upload)
    else if (dice < 50) await this.#list(upload)
    else if (dice < 64) await this.#complete(upload)
    else if (dice < 67) await this.#abort(upload)
    else if (dice < 72) await this.#addLink()
    else if (dice < 80) await this.#putLink()
    else await this.#download()
  }

  async #begin(): Promise<void> {
    const answer = await this.#own.account.post('/media/upload-parts/init', {})
    this.#sent('begin')
    this.#expect(answer, [200, 403, 409])
    if (answer.status === 200) this.#uploads.push({ begun: answer.body, parts: new Map() })
  }

  async #putPart(upload: Upload): Promise<void> {
    const draws = this.#draws
    const next = draws.chance(0.6) ? upload.parts.size + 1 : draws.whole(1, 5)
    const number = draws.chance(0.95)
      ? next
      : draws.pick(['0', '-1', '10001', '1.5', 'x', '', '1&partNumber=2'])
    const begun = draws.chance(0.96)
      ? upload.begun
      : { ...upload.begun, media_key: mutated(upload.begun.media_key, draws).toWellFormed() }
    const body = this.#noise()
    const isStream = draws.chance(0.2)
    this.#sent(`part ${number}, ${body.length} bytes${isStream ? ', chunked' : ''}`)
    const isTwice = draws.chance(0.1)
    const other = isTwice ? this.#noise() : body
    const [answer, second] = await Promise.all([
      this.#own.put(begun, number, isStream ? new Blob([body]).stream() : body),
      isTwice ? this.#own.put(begun, number, other) : undefined,
    ])
    for (const each of [answer, ...(second ? [second] : [])]) this.#expect(each, [200, 400, 403, 404, 413])
    // Of a name that comes twice in a query, the last one counts.
    const stored = Number(`${number}`.split('=').at(-1))
    if (second) upload.parts.set(stored, undefined)
    else if (answer.status === 200) upload.parts.set(stored, body)
  }

  // The relay never gets the rest of this part. It keeps the one that it has.
  async #cutOff(upload: Upload): Promise<void> {
    const number = this.#draws.whole(1, 5)
    this.#sent(`part ${number}, cut off`)
    const socket = await sendHalfPart(this.#own, upload.begun, number)
    if (this.#draws.chance(0.5)) await this.#own.listParts(upload.begun)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.destroy()
    await closed
  }

  async #list(upload: Upload): Promise<void> {
    this.#sent('list')
    const answer = await this.#own.listParts(upload.begun)
    this.#expect(answer, [200, 404])
    if (answer.status !== 200) return
    const sizes = new Map<number, number>()
    for (const { part_number, size } of answer.body.parts) sizes.set(part_number, size)
    for (const [number, part] of upload.parts) {
      if (part && sizes.get(number) !== part.length)
        throw new Finding(`part ${number} of ${part.length} bytes is listed with ${sizes.get(number)}`)
    }
  }

  async #complete(upload: Upload): Promise<void> {
    const draws = this.#draws
    const listed = await this.#own.listParts(upload.begun)
    let parts: { part_number: number; etag: string }[] = listed.body?.parts ?? []
    const dice = draws.next()
    if (dice < 0.2) parts = draws.shuffle(parts)
    else if (dice < 0.3) parts = parts.slice(1)
    else if (dice < 0.4)
      parts = parts.map((part) => ({ ...part, etag: mutated(part.etag, draws).toWellFormed() }))
    this.#sent(`complete ${JSON.stringify(parts)}`)
    const answers = await Promise.all(
      Array.from({ length: draws.whole(1, 3) }, () => this.#own.complete(upload.begun, parts)),
    )
    for (const answer of answers) this.#expect(answer, [200, 400, 404, 409])
    const isDone = answers.some(({ status }) => status === 200)
    if (isDone && answers.some(({ status }) => status !== 200))
      throw new Finding('one completion failed beside another one')
    if (!isDone) return
    this.#uploads.splice(this.#uploads.indexOf(upload), 1)
    const contents = parts.map(({ part_number }) => upload.parts.get(part_number))
    const blob = await this.#read(upload.begun.media_key)
    const known = contents.every((part) => part !== undefined) ? Buffer.concat(contents) : blob
    if (!known.equals(blob)) throw new Finding('a completed blob is not what was uploaded')
    this.#blobs.set(upload.begun.media_key, blob)
  }

  async #abort(upload: Upload): Promise<void> {
    this.#sent('abort')
    this.#expect(await this.#own.abort(upload.begun), [200])
    this.#uploads.splice(this.#uploads.indexOf(upload), 1)
  }

  async #addLink(): Promise<void> {
    const draws = this.#draws
    const size = draws.chance(0.7)
      ? draws.whole(1, 50_000)
      : draws.chance(0.5)
        ? undefined
        : draws.pick([0, -1, MIB + 1, 2 ** 53])
    this.#sent(`link for ${size} bytes`)
    const answer = await this.#own.account.post('/media/upload-url', size === undefined ? {} : { size })
    this.#expect(answer, [200, 400, 403, 409, 413])
    if (answer.status === 200)
      this.#links.push({ url: answer.body.upload_url, key: answer.body.media_key, size })
  }

  async #putLink(): Promise<void> {
    const draws = this.#draws
    if (this.#links.length === 0) return
    const link = draws.pick(this.#links)
    const body = this.#noise(draws.chance(0.7) ? link.size : undefined)
    const url = draws.chance(0.9) ? link.url : link.url.slice(0, -4) + draws.pick(['AAAA', '%00', '', 'a/b'])
    this.#sent(`${body.length} bytes to a link for ${link.size}`)
    const answer = await call(url, { method: 'PUT', body })
    this.#expect(answer, [200, 400, 404, 405, 409, 413])
    if (answer.status !== 200) return
    this.#links.splice(this.#links.indexOf(link), 1)
    this.#blobs.set(link.key, body)
    if (!Buffer.from(body).equals(await this.#read(link.key)))
      throw new Finding('a link stored something else')
  }

  async #download(): Promise<void> {
    const draws = this.#draws
    const [key, blob] =
      this.#blobs.size > 0 && draws.chance(0.9)
        ? draws.pick([...this.#blobs])
        : [`m_${'x'.repeat(22)}`, undefined]
    const size = blob?.length ?? 1
    const place = (): number =>
      draws.chance(0.5) ? draws.pick([0, 1, size - 1, size]) : draws.whole(0, size)
    const [from, to] = [place(), place()]
    const ranges: Readonly<Record<string, readonly [number, number]>> = {
      '': [0, size],
      [`bytes=${from}-${to}`]: [from, to],
      [`bytes=${from}-`]: [from, size],
      [`bytes=-${to}`]: [size - to, size],
    }
    const odd = mutated(`bytes=${from}-${to}`, draws).replace(/[^\x20-\x7e]/g, '')
    const range = draws.pick([...Object.keys(ranges), odd])
    const headers: Record<string, string> = range === '' ? {} : { range }
    if (draws.chance(0.1))
      headers['if-none-match'] = draws.pick(['*', `"${key}"`, draws.of(anyText).replace(/[^\x20-\x7e]/g, '')])
    if (draws.chance(0.1)) headers['if-range'] = draws.pick([`"${key}"`, '"other"'])
    const method = draws.chance(0.9) ? 'GET' : 'HEAD'
    this.#sent(`${method} ${key} ${JSON.stringify(headers)}`)
    const isByLink = draws.chance(0.3)
    const link = isByLink ? await this.#own.account.get(`/media/download-url?key=${key}`) : undefined
    const answer =
      link?.status === 200
        ? await fetch(link.body.download_url, { method, headers })
        : await this.#own.download(key, headers, method)
    this.#answered(answer.status, [200, 206, 304, 404, 416])
    const bytes = await bytesOf(answer)
    if (answer.status >= 300 || method === 'HEAD') return
    if (!blob) throw new Finding('a blob that nobody uploaded was downloaded')
    const said = /^bytes (\d+)-(\d+)\//.exec(answer.headers.get('content-range') ?? '')
    const [first, last] = said ? [Number(said[1]), Number(said[2])] : [0, size - 1]
    const asked = ranges[range]
    if (said && asked && (first !== Math.max(0, asked[0]) || last !== Math.min(size - 1, asked[1])))
      throw new Finding(`${range} of ${size} bytes is answered with ${said[0]}`)
    if (!Buffer.from(blob.subarray(first, last + 1)).equals(Buffer.from(bytes)))
      throw new Finding(`bytes ${first} to ${last} of ${key} are not what was uploaded`)
  }

  async #read(key: string): Promise<Buffer> {
    const answer = await this.#own.download(key)
    if (answer.status !== 200) throw new Finding(`a stored blob answers ${answer.status}`)
    return Buffer.from(await bytesOf(answer))
  }

  #noise(length?: number): Uint8Array<ArrayBuffer> {
    const draws = this.#draws
    const byte = draws.whole(0, 255)
    const usual = draws.chance(0.05)
      ? draws.whole(0, MIB + 10)
      : draws.whole(draws.chance(0.03) ? 0 : 1, 20_000)
    return Uint8Array.from({ length: length ?? usual }, (_, at) => byte + at * 31)
  }

  #sent(text: string): void {
    this.#inputs.sending(this.#index, text)
  }

  #expect({ status, text }: Answer, expected: readonly number[]): void {
    this.#answered(status, expected, text)
  }

  #answered(status: number, expected: readonly number[], text = ''): void {
    this.#inputs.answered(status)
    if (!expected.includes(status)) throw new Finding(`status ${status}: ${text.slice(0, 500)}`)
  }
}

/** All accounts are deleted: no row of theirs is left, and no file but those that the sweep will remove. */
async function expectNothingLeft({ relay }: Target): Promise<void> {
  using database = new Database(join(relay.dataDir, 'sotto.db'), { readonly: true })
  await until('no row of deleted media is left', async () => {
    const rows = database.query<{ count: number }, []>(
      'SELECT (SELECT COUNT(*) FROM media_blobs) + (SELECT COUNT(*) FROM media_parts) + (SELECT COUNT(*) FROM media_writes) AS count',
    )
    return rows.get()?.count === 0
  })
  const doomed = database.query<{ object: string }, []>('SELECT object FROM media_doomed').all()
  const objects = new Set(doomed.map(({ object }) => object))
  const entries = await readdir(join(relay.dataDir, 'media'), { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  const left = files.filter((file) => ![...objects].some((object) => file.includes(object)))
  if (left.length > 0) throw new Finding(`files that nothing names are left: ${left.slice(0, 5).join(' ')}`)
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const late = performance.now() + 60_000; !(await isSo()); await Bun.sleep(20)) {
    if (performance.now() > late) throw new Finding(`after a minute it is not so that ${what}`)
  }
}
