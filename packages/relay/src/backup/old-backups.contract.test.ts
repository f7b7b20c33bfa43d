// The removal of old backups, in a folder and in a bucket: what stays, and what a kill in its middle leaves.
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { startSwift } from '../../test/swift-server.ts'
import { type BackupPlace, piecesOf, writeSummed } from './backup-place.ts'
import { checkBackups } from './check-backups.ts'
import { namesOfBackups, writeChecksums } from './checksums.ts'
import { FolderPlace } from './folder-place.ts'
import { removeOldBackups } from './old-backups.ts'
import { S3Place } from './s3-place.ts'

setDefaultTimeout(240_000)

const FIRST = '2026-01-01T00-00-00.000Z'
const SECOND = '2026-01-02T00-00-00.000Z'
const THIRD = '2026-01-03T00-00-00.000Z'
const CUT_OFF = '2026-01-04T00-00-00.000Z'
const NOTES = ['notes.txt', 'media/notes.txt']

const blob = (letter: string) => `media/${letter}${letter}/${letter.repeat(8)}`
const sealed = (letter: string) => `media-key/${letter}${letter}/${letter.repeat(8)}.age`

/** What each backup has besides its list. */
const BACKUPS: readonly (readonly [string, readonly string[]])[] = [
  [FIRST, [`${FIRST}.db`, blob('a'), blob('b')]],
  [SECOND, [`${SECOND}.db`, blob('b'), blob('c')]],
  [THIRD, [`${THIRD}.db.age`, sealed('c'), sealed('d')]],
]
/** What no list names: those of a backup that was cut off, and notes of the operator. */
const UNNAMED = [`${CUT_OFF}.db`, blob('e')]

const ofThird = [`${THIRD}.sha256`, `${THIRD}.db.age`, sealed('c'), sealed('d'), ...NOTES].toSorted()
const everything = [
  ...new Set([...BACKUPS.flatMap(([name, files]) => [`${name}.sha256`, ...files]), ...UNNAMED, ...NOTES]),
].toSorted()

const folders: string[] = []
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

/** A place without files, and the code of a program that opens it. */
interface NewPlace {
  readonly place: BackupPlace
  readonly code: string
}

async function newFolder(): Promise<NewPlace> {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-old-'))
  folders.push(folder)
  return { place: new FolderPlace(folder), code: `new FolderPlace(${JSON.stringify(folder)})` }
}

async function newBucketFolder(): Promise<NewPlace> {
  const { endpoint, bucket, region, accessKey, secretKey } = await startSwift()
  const words = [`s3://${bucket}/${crypto.randomUUID()}`, { endpoint, region, accessKey, secretKey }] as const
  return { place: new S3Place(...words), code: `new S3Place(...${JSON.stringify(words)})` }
}

/** Puts three backups, of one relay, and some other files into a place. */
async function fill(place: BackupPlace): Promise<void> {
  for (const file of [...UNNAMED, ...NOTES]) await place.write(file, piecesOf('not in a list'))
  for (const [name, files] of BACKUPS) {
    const sums = new Map<string, string>()
    for (const file of files) sums.set(file, await writeSummed(place, file, piecesOf(`the bytes of ${file}`)))
    await writeChecksums(place, name, sums)
  }
}

/** Removes all backups but the third in a process that is killed before it removes its nth file. */
async function removeAndBeKilled(code: string, nth: number): Promise<boolean> {
  const script = `
    const { FolderPlace } = await import(${JSON.stringify(join(import.meta.dir, 'folder-place.ts'))})
    const { S3Place } = await import(${JSON.stringify(join(import.meta.dir, 's3-place.ts'))})
    const { removeOldBackups } = await import(${JSON.stringify(join(import.meta.dir, 'old-backups.ts'))})
    const place = ${code}
    const remove = place.remove.bind(place)
    let left = ${nth}
    place.remove = async (file) => {
      if (left-- === 0) process.kill(process.pid, 'SIGKILL')
      await remove(file)
    }
    await removeOldBackups(place, '${THIRD}', 1)
    process.exit(0)`
  const child = Bun.spawn([process.execPath, '-e', script], { stderr: 'inherit' })
  await child.exited
  expect(child.exitCode === 0 || child.signalCode === 'SIGKILL').toBe(true)
  return child.signalCode === 'SIGKILL'
}

describe.each([
  ['in a folder', newFolder, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
  ['in a bucket', newBucketFolder, [1, 4]],
])('%s', (_, newPlace, kills) => {
  test('the newest backups stay with their media, and what no backup names goes', async () => {
    const { place } = await newPlace()
    await fill(place)
    expect((await place.listAll()).toSorted()).toEqual(everything)
    expect(await removeOldBackups(place, THIRD, 2)).toBe(1)
    const gone = new Set([`${FIRST}.sha256`, `${FIRST}.db`, blob('a'), ...UNNAMED])
    expect((await place.listAll()).toSorted()).toEqual(everything.filter((file) => !gone.has(file)))
    expect(await checkBackups(place)).toMatchObject({ backups: 2, damaged: [] })
    expect(await removeOldBackups(place, THIRD, 2)).toBe(0)
    expect(await removeOldBackups(place, THIRD, 1)).toBe(1)
    expect((await place.listAll()).toSorted()).toEqual(ofThird)
  })

  test('the backup that was just made stays, also when the clock was put back', async () => {
    const { place } = await newPlace()
    await fill(place)
    expect(await removeOldBackups(place, FIRST, 2)).toBe(1)
    expect(await namesOfBackups(place)).toEqual([FIRST, THIRD])
    expect(await removeOldBackups(place, FIRST, 1)).toBe(1)
    expect(await namesOfBackups(place)).toEqual([FIRST])
    expect(await checkBackups(place)).toMatchObject({ backups: 1, damaged: [] })
  })

  test('nothing is removed while the list of a backup that stays is damaged', async () => {
    const { place } = await newPlace()
    await fill(place)
    await place.write(`${SECOND}.sha256`, piecesOf('notes\n'))
    expect(`${await failureOf(removeOldBackups(place, THIRD, 2))}`).toBe(
      `BackupError: ${place.pathOf(`${SECOND}.sha256`)} is damaged, so nobody knows which media it names`,
    )
    expect((await place.listAll()).toSorted()).toEqual(everything)
    expect(await removeOldBackups(place, THIRD, 1)).toBe(2)
    expect((await place.listAll()).toSorted()).toEqual(ofThird)
  })

  test('a removal that is killed leaves every listed backup whole, and the next one ends it', async () => {
    const most = everything.length - ofThird.length
    for (const nth of kills) {
      const { place, code } = await newPlace()
      await fill(place)
      expect(await removeAndBeKilled(code, nth)).toBe(nth < most)
      expect(await place.listAll()).toHaveLength(everything.length - Math.min(nth, most))
      const { backups, damaged } = await checkBackups(place)
      expect({ nth, backups, damaged }).toEqual({ nth, backups: Math.max(1, 3 - nth), damaged: [] })
      await removeOldBackups(place, THIRD, 1)
      expect((await place.listAll()).toSorted()).toEqual(ofThird)
    }
  })
})
