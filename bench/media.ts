// `npm run bench -- media`: uploads and downloads a file of 100 MiB. The floor is the same runtime that
// writes an HTTP body to a file and syncs it.
import { type WireAccount, wireAccount } from '@sotto/relay/testing/wire'
import type { Bench } from './bench.ts'
import { median, watchMemory } from './measure.ts'
import { type MeasuredServer, startMeasuredRelay, startMediaFloor } from './server-process.ts'

const PART_BYTES = 5 * 1024 * 1024 + 32
const PARTS = 20
const FILE_BYTES = PARTS * PART_BYTES
const ROUNDS = 9

interface Round {
  readonly upMs: number
  readonly downMs: number
}

export const media: Bench = {
  means: 'a file of 100 MiB up and down, and the memory it costs',
  run: async () => {
    const relay = await startMeasuredRelay({ LIMIT_MEDIA_ACCOUNT_BYTES: '1099511627776' })
    const floor = await startMediaFloor()
    const account = await wireAccount(relay.url)
    const part = new Uint8Array(PART_BYTES).fill(7)
    const whole = new Blob(Array.from({ length: PARTS }, () => part))
    const memory = [watchMemory(relay.pid), watchMemory(floor.pid)] as const
    const [bareParts, byParts, bare, byLink]: [Round[], Round[], Round[], Round[]] = [[], [], [], []]
    await measureParts(account, part) // A warm-up: the first request compiles code and does not count.
    await measureBare(floor, whole)
    for (let round = 0; round < ROUNDS; round++) {
      bareParts.push(await measureBareParts(floor, part))
      byParts.push(await measureParts(account, part))
      bare.push(await measureBare(floor, whole))
      byLink.push(await measureLink(account, whole))
    }
    const relayMib = Math.round(memory[0]() / 1024)
    const floorMib = Math.round(memory[1]() / 1024)
    await Promise.all([relay.stop(), floor.stop()])
    const rows = [
      {
        what: 'the floor, in 20 parts',
        ...rowOf(bareParts, bareParts),
        'MiB above idle': floorMib,
      },
      { what: 'relay, in 20 parts', ...rowOf(byParts, bareParts), 'MiB above idle': relayMib },
      { what: 'the floor, one PUT', ...rowOf(bare, bare), 'MiB above idle': floorMib },
      { what: 'relay, one PUT by a link', ...rowOf(byLink, bare), 'MiB above idle': relayMib },
    ]
    return { settings: { fileBytes: FILE_BYTES, partBytes: PART_BYTES, rounds: ROUNDS }, rows }
  },
}

async function measureParts(account: WireAccount, part: Uint8Array<ArrayBuffer>): Promise<Round> {
  const start = performance.now()
  const { body: upload } = await account.post('/media/upload-parts/init', {})
  const parts: { part_number: number; etag: string }[] = []
  for (let number = 1; number <= PARTS; number++) {
    const query = `mediaKey=${upload.media_key}&partNumber=${number}`
    const answer = await fetch(account.api(`/media/upload-parts/${upload.upload_id}/chunk?${query}`), {
      method: 'POST',
      headers: account.authorized(),
      body: part,
    })
    parts.push({ part_number: number, etag: (await answer.json()).etag })
  }
  const body = { media_key: upload.media_key, parts }
  const { status } = await account.post(`/media/upload-parts/${upload.upload_id}/complete`, body)
  if (status !== 200) throw new Error('the upload was not completed')
  const upMs = performance.now() - start
  return { upMs, downMs: await download(account, upload.media_key) }
}

async function measureLink(account: WireAccount, whole: Blob): Promise<Round> {
  const start = performance.now()
  const { body: link } = await account.post('/media/upload-url', { size: FILE_BYTES })
  await put(link.upload_url, whole)
  const upMs = performance.now() - start
  return { upMs, downMs: await download(account, link.media_key) }
}

async function measureBare(floor: MeasuredServer, whole: Blob): Promise<Round> {
  const start = performance.now()
  await put(`${floor.url}/file`, whole)
  const upMs = performance.now() - start
  return { upMs, downMs: await drain(await fetch(`${floor.url}/file`)) }
}

async function measureBareParts(floor: MeasuredServer, part: Uint8Array<ArrayBuffer>): Promise<Round> {
  const start = performance.now()
  for (let number = 1; number <= PARTS; number++) {
    const query = `${number > 1 ? 'more&' : ''}${number < PARTS ? 'open' : ''}`
    await (await fetch(`${floor.url}/file?${query}`, { method: 'PUT', body: part })).text()
  }
  const upMs = performance.now() - start
  return { upMs, downMs: await drain(await fetch(`${floor.url}/file`)) }
}

async function put(url: string, whole: Blob): Promise<void> {
  const { ok, status } = await fetch(url, { method: 'PUT', body: whole })
  if (!ok) throw new Error(`the upload was answered with ${status}`)
}

async function download(account: WireAccount, key: string): Promise<number> {
  return await drain(
    await fetch(account.api(`/media/download?key=${key}`), { headers: account.authorized() }),
  )
}

async function drain(response: Response): Promise<number> {
  const start = performance.now()
  let bytes = 0
  for await (const piece of response.body ?? []) bytes += piece.byteLength
  if (bytes !== FILE_BYTES) throw new Error(`${bytes} bytes came back`)
  return performance.now() - start
}

function rowOf(rounds: readonly Round[], floor: readonly Round[]): Record<string, number> {
  const upMs = (of: readonly Round[]): number => median(of.map((round) => round.upMs))
  const downMs = (of: readonly Round[]): number => median(of.map((round) => round.downMs))
  const rate = (ms: number): number => Math.round(FILE_BYTES / 1_048_576 / (ms / 1000))
  return {
    'up MiB/s': rate(upMs(rounds)),
    'up, to the floor': Math.round((upMs(floor) / upMs(rounds)) * 100) / 100,
    'down MiB/s': rate(downMs(rounds)),
    'down, to the floor': Math.round((downMs(floor) / downMs(rounds)) * 100) / 100,
  }
}
