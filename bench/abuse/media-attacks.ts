// Attacks through media: parts that are cut off, the whole quota, the whole budget of downloads, and a disk
// filled to its reserve.
import { randomBytes } from 'node:crypto'
import { statfsSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '@sotto/protocol'
import type { WireAccount } from '@sotto/relay/testing/wire'
import type { Attack } from './attack.ts'
import type { Attacker } from './attacker.ts'
import type { HttpAnswer } from './http-connection.ts'

const PART_BYTES = limits.mediaPartBytes.default
const PARTS_A_BLOB = 20
const BYTES = { 'content-type': 'application/octet-stream' }
const part = randomBytes(PART_BYTES)

/** What an attack remembers of an upload. On the floor the ids are empty. */
interface Upload {
  readonly id: string
  readonly key: string
  readonly parts: { part_number: number; etag: string }[]
}

/** Each upload has one short part, nine that are cut off early, and is completed. */
const cutOffParts: Attack = {
  name: 'media-cut-off',
  run: async (attacker) => {
    const uploads = Math.floor(attacker.allowed('upload') / 2)
    const cutOffs = Math.floor(attacker.allowed('part') / uploads) - 1
    await attacker.paced(uploads, async () => {
      const upload = await begin(attacker)
      if (!upload) return
      await putPart(attacker, upload, 1, part.subarray(0, 1))
      for (let number = 2; number < 2 + cutOffs && !attacker.isOver; number++)
        await cutOff(attacker, upload, number)
      await complete(attacker, upload)
    })
  },
}

/** Uploads as much as one account may store. */
const uploads: Attack = {
  name: 'media-uploads',
  run: async (attacker) => {
    const count = Math.ceil(limits.mediaAccountBytes.default / PART_BYTES)
    const begun = Array.from({ length: Math.ceil(count / PARTS_A_BLOB) }, () => begin(attacker))
    await attacker.paced(count, async (index) => {
      const upload = await begun[Math.floor(index / PARTS_A_BLOB)]
      if (!upload) return
      await putPart(attacker, upload, (index % PARTS_A_BLOB) + 1, part)
      if (upload.parts.length === PARTS_A_BLOB) await complete(attacker, upload)
    })
  },
}

/** Downloads as many bytes as one account may in an hour. */
const downloads: Attack = {
  name: 'media-downloads',
  prepare: async ({ strangers: [stranger] }) => [stranger ? await storeBlob(stranger) : ''],
  run: async (attacker) => {
    const [key] = attacker.scene.things
    const count = Math.floor(attacker.allowed('downloadBytes') / (PARTS_A_BLOB * PART_BYTES))
    const as = attacker.stranger()
    await attacker.paced(count, () => attacker.request('GET', `/media/download?key=${key}`, { as }))
  },
}

/** Below the reserve and above the last one, which is half of it. */
const SHORT_OF_RESERVE = 0.75
const DISK_MIB = 512

/** On a disk that media and other files have filled below its reserve, goes on asking for what is refused. */
const fullDisk: Attack = {
  name: 'full-disk',
  diskMib: DISK_MIB,
  arm: async (attacker) => {
    if (attacker.scene.isFloor) return
    await fillWithMedia(attacker)
    const { bavail, bsize, blocks } = statfsSync(attacker.scene.folder)
    const ballast = bavail * bsize - Math.floor((blocks * bsize * SHORT_OF_RESERVE) / 10)
    await Bun.write(join(attacker.scene.folder, 'ballast', 'attack'), new Uint8Array(ballast))
    // The relay reads its disk once a second.
    for (let status = 200; status !== 507; await Bun.sleep(100)) {
      const as = attacker.stranger()
      status = (await attacker.request('POST', '/push/subscribe', { as, body: {} })).status
    }
  },
  run: async (attacker) => {
    const as = attacker.stranger()
    await attacker.paced(attacker.allowed('write'), async (index) => {
      await attacker.request('POST', '/channels', { as, body: { name: `Channel ${index}` } })
      await attacker.request('POST', '/media/upload-parts/init', { as, body: {} })
    })
  },
}

async function fillWithMedia(attacker: Attacker): Promise<void> {
  for (let blob = 0; blob * PARTS_A_BLOB * PART_BYTES < (DISK_MIB * 2 ** 20) / 2; blob++) {
    const upload = await begin(attacker)
    if (!upload) return
    for (let number = 1; number <= PARTS_A_BLOB; number++)
      if ((await putPart(attacker, upload, number, part)).status !== 200) return
  }
}

/** @returns undefined if it is refused */
async function begin(attacker: Attacker): Promise<Upload | undefined> {
  const answer = await attacker.request('POST', '/media/upload-parts/init', {
    as: attacker.stranger(),
    body: {},
  })
  if (answer.status !== 200) return undefined
  const { upload_id: id, media_key: key } = fieldsOf(answer)
  return { id: id ?? '', key: key ?? '', parts: [] }
}

async function putPart(
  attacker: Attacker,
  upload: Upload,
  number: number,
  body: Uint8Array,
): Promise<HttpAnswer> {
  const options = { as: attacker.stranger(), body, headers: BYTES }
  const answer = await attacker.request('POST', pathOfPart(upload, number), options)
  if (answer.status === 200) upload.parts.push({ part_number: number, etag: fieldsOf(answer).etag ?? '' })
  return answer
}

/** Announces a whole part, sends a twentieth of it and resets the connection. */
async function cutOff(attacker: Attacker, upload: Upload, number: number): Promise<void> {
  const options = { as: attacker.stranger(), headers: BYTES, length: PART_BYTES }
  const head = attacker.headOf('POST', pathOfPart(upload, number), options)
  await new Promise<void>((resolve) => {
    const socket = attacker.raw([head, part.subarray(0, PART_BYTES / 20)], () => {
      socket.destroy()
      resolve()
    })
  })
}

function pathOfPart({ id, key }: Upload, number: number): string {
  return `/media/upload-parts/${id}/chunk?mediaKey=${key}&partNumber=${number}`
}

async function complete(attacker: Attacker, { id, key, parts }: Upload): Promise<void> {
  const sorted = parts.toSorted((a, b) => a.part_number - b.part_number)
  const body = { media_key: key, parts: sorted }
  const as = attacker.stranger()
  await attacker.request('POST', `/media/upload-parts/${id}/complete`, { as, body })
}

function fieldsOf({ body }: HttpAnswer): Record<string, string> {
  return body === '' ? {} : JSON.parse(body)
}

/** Stores the largest blob through a relay without rates. @returns its key */
async function storeBlob(account: WireAccount): Promise<string> {
  const { body: upload } = await account.post('/media/upload-parts/init', {})
  const parts: Upload['parts'] = []
  for (let number = 1; number <= PARTS_A_BLOB; number++) {
    const path = pathOfPart({ id: upload.upload_id, key: upload.media_key, parts }, number)
    const headers = { ...account.authorized(), ...BYTES }
    const answer = await fetch(account.api(path), { method: 'POST', headers, body: part })
    parts.push({ part_number: number, etag: (await answer.json()).etag })
  }
  const body = { media_key: upload.media_key, parts }
  const { status } = await account.post(`/media/upload-parts/${upload.upload_id}/complete`, body)
  if (status !== 200) throw new Error('the upload was not completed')
  return upload.media_key
}

export const mediaAttacks = [cutOffParts, uploads, downloads, fullDisk]
