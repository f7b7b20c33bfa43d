// Backups in a bucket of a real S3-compatible store: made, checked, restored, killed, and without the store.

import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRelay } from '@sotto/relay/testing'
import { S3Client } from 'bun'
import { findFreePort } from '../../relay/test/free-port.ts'
import { bytesOf, MediaAccount, noise } from '../../relay/test/media-wire.ts'
import { startSwift } from '../../relay/test/swift-server.ts'
import { expectRefused, killAtBlob, sottoWith } from './run-sotto.ts'

setDefaultTimeout(240_000)

const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

/** A relay with two blobs, and a folder in the bucket for its backups. */
async function world() {
  const { endpoint, accessKey, secretKey, bucket, region } = await startSwift()
  const relay = await startRelay()
  endings.push(() => relay.stop())
  const media = await MediaAccount.make(relay.url)
  const blobs = [noise(70_000), noise(300_000)]
  const keys = [await media.upload(blobs[0] ?? noise(1)), await media.upload(blobs[1] ?? noise(1))]
  const folder = await mkdtemp(join(tmpdir(), 'sotto-s3-'))
  endings.push(() => rm(folder, { recursive: true, force: true }))
  const prefix = crypto.randomUUID()
  const settings = {
    BACKUP_S3_ENDPOINT: endpoint,
    BACKUP_S3_REGION: region,
    BACKUP_S3_ACCESS_KEY: accessKey,
    BACKUP_S3_SECRET_KEY: secretKey,
  }
  const credentials = { accessKeyId: accessKey, secretAccessKey: secretKey }
  const client = new S3Client({ endpoint, bucket, region, ...credentials })
  const place = `s3://${bucket}/${prefix}`
  /** The names of the objects below the place. */
  const objects = async (pattern: RegExp): Promise<string[]> => {
    const { contents = [] } = await client.list({ prefix: `${prefix}/` })
    return contents.map(({ key }) => key.slice(prefix.length + 1)).filter((name) => pattern.test(name))
  }
  const dataDir = join(folder, 'data')
  const backup = ['backup', '--folder', place, '--data-dir', relay.dataDir]
  const restore = ['restore', '--from', place, '--data-dir', dataDir]
  return {
    relay,
    media,
    blobs,
    keys,
    settings,
    client,
    prefix,
    place,
    objects,
    dataDir,
    backup,
    restore,
    bucket,
  }
}

test('a backup that is killed leaves the former one in the bucket, and only new media are sent', async () => {
  const { relay, media, blobs, keys, settings, place, objects, dataDir, backup, restore } = await world()
  expect(await sottoWith(settings, ...backup)).toMatchObject({ code: 0, errors: '' })
  const first = await objects(/^[^/]+$/)
  expect(first).toHaveLength(3)

  const mediaFolder = join(relay.dataDir, 'media')
  const filesOf = async (): Promise<string[]> =>
    (await readdir(mediaFolder, { recursive: true })).filter((name) => /\/[0-9a-f]{32}$/.test(name))
  const before = new Set(await filesOf())
  const [third, fourth] = [noise(1000), noise(2000)]
  keys.push(await media.upload(third))
  const sent = (await filesOf()).find((name) => !before.has(name)) ?? ''
  keys.push(await media.upload(fourth))
  const last = (await filesOf()).find((name) => !before.has(name) && name !== sent) ?? ''
  const hasSent = async (): Promise<boolean> => (await objects(/^media\//)).includes(`media/${sent}`)
  await killAtBlob(join(mediaFolder, last), hasSent, backup, settings)
  expect(await objects(/^[^/]+$/)).toEqual(first)
  expect(await sottoWith(settings, 'backup', 'check', place)).toMatchObject({
    code: 0,
    output: `${place} is whole. Backups: 1, files: 3.\n`,
  })
  expect((await sottoWith(settings, ...restore)).output).toContain('2 copied')
  await rm(dataDir, { recursive: true })

  expect((await sottoWith(settings, ...backup)).output).toContain('1 copied, 3 there already')
  expect(await sottoWith(settings, ...restore)).toMatchObject({ code: 0, errors: '' })
  const restored = await startRelay({ env: { DATA_DIR: dataDir } })
  endings.push(() => restored.stop())
  Object.assign(media.account, { base: restored.url })
  for (const [i, blob] of [...blobs, third, fourth].entries())
    expect(Buffer.compare(await bytesOf(await media.download(keys[i] ?? '')), blob)).toBe(0)
})

test('an encrypted backup in a bucket is checked, and damage in it is named', async () => {
  const { relay, settings, client, prefix, place, objects, dataDir, backup, restore } = await world()
  const identity = join(relay.dataDir, '..', `${prefix}.txt`)
  endings.push(() => rm(identity, { force: true }))
  expect(Bun.spawnSync(['age-keygen', '-o', identity]).exitCode).toBe(0)
  const key = Bun.spawnSync(['age-keygen', '-y', identity]).stdout.toString().trim()
  expect(await sottoWith({ ...settings, BACKUP_KEY: key }, ...backup)).toMatchObject({ code: 0, errors: '' })
  const [blob = '', absent = ''] = await objects(/^media-\w+\/..\/[0-9a-f]{32}\.age$/)
  const [database = ''] = await objects(/Z\.db\.age$/)
  expect(
    await sottoWith(
      settings,
      'restore',
      '--from',
      `${place}/${database}`,
      '--identity',
      identity,
      '--data-dir',
      dataDir,
    ),
  ).toMatchObject({ code: 0, errors: '' })
  await rm(dataDir, { recursive: true })

  await client.file(`${prefix}/${blob}`).write('other bytes')
  await client.file(`${prefix}/${absent}`).delete()
  const found = await sottoWith(settings, 'backup', 'check', place)
  expect(found.code).toBe(1)
  expect(found.output.trim().split('\n').toSorted()).toEqual(
    [`${place}/${blob} is damaged`, `${place}/${absent} is missing`].toSorted(),
  )
  const refused = await sottoWith(settings, ...restore, '--identity', identity)
  expect(refused).toMatchObject({ code: 1, output: '' })
  expect(refused.errors).toMatch(
    /^sotto: \S+ is (?:damaged|missing); --skip-damaged restores everything else\n$/,
  )
  expect(existsSync(join(dataDir, 'sotto.db'))).toBe(false)
})

test('a bucket that cannot be used is named in one sentence', async () => {
  const { settings, place, objects, relay, backup, restore, bucket } = await world()
  const { BACKUP_S3_ENDPOINT: endpoint } = settings
  const backUpTo = (folder: string) =>
    sottoWith(settings, 'backup', '--folder', folder, '--data-dir', relay.dataDir)
  expectRefused(await sottoWith(settings, ...restore), `${place} holds no backup`)
  expectRefused(
    await sottoWith({}, ...backup),
    `${place} needs the settings BACKUP_S3_ENDPOINT, BACKUP_S3_ACCESS_KEY and BACKUP_S3_SECRET_KEY`,
  )
  const away = `http://127.0.0.1:${await findFreePort()}`
  expectRefused(
    await sottoWith({ ...settings, BACKUP_S3_ENDPOINT: away }, ...backup),
    `cannot read ${place}: ConnectionRefused at ${away}`,
  )
  expectRefused(
    await sottoWith({ ...settings, BACKUP_S3_SECRET_KEY: 'wrong' }, ...backup),
    `cannot read ${place}: SignatureDoesNotMatch at ${endpoint}`,
  )
  expectRefused(await backUpTo('s3://no-bucket'), `cannot read s3://no-bucket: NoSuchBucket at ${endpoint}`)
  expectRefused(await backUpTo('s3://x'), 's3://x names no bucket, such as s3://backups/sotto')
  expectRefused(
    await sottoWith({ ...settings, BACKUP_S3_ENDPOINT: 'backups' }, ...backup),
    'BACKUP_S3_ENDPOINT must be a URL without a path, such as https://s3.example',
  )
  const file = `s3://${bucket}/2026-01-01T00-00-00.000Z.db`
  expectRefused(
    await sottoWith(settings, 'restore', '--from', file, '--data-dir', '/nowhere'),
    `${file} holds no backup`,
  )
  expect(existsSync(join(relay.dataDir, 'backup'))).toBe(false)

  // A blob that ends too early does not become an object.
  const mediaFolder = join(relay.dataDir, 'media')
  const [blob = ''] = (await readdir(mediaFolder, { recursive: true })).filter((name) =>
    /\/\w{32}$/.test(name),
  )
  await truncate(join(mediaFolder, blob), 100)
  expect((await sottoWith(settings, ...backup)).errors).toEndWith(
    `is made, but blobs of media are missing in ${mediaFolder}: 1\n`,
  )
  expect(await objects(/^media\//)).toHaveLength(1)
})
