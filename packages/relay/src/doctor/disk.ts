// Checks the disks: their space, whether they can be written, and whether a sync puts data on them.
import { closeSync, existsSync, fsyncSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { readDisk } from '../operations/disks.ts'
import { reservesOf } from '../operations/space-settings.ts'
import { foldersOf } from '../operator-commands.ts'
import { type Finding, findingsOf, reasonOf } from './finding.ts'
import type { Patient } from './patient.ts'

const SYNCS = 21
/** No disk that keeps what it has is as fast. */
const LEAST_SYNC_MS = 0.01
/** Each commit waits for one. */
const MOST_SYNC_MS = 100
/** The types of file systems in memory: tmpfs and ramfs. */
const IN_MEMORY = [0x01021994, 0x858458f6]
const MIB = 1024 * 1024

export async function checkDisks(patient: Patient): Promise<readonly Finding[]> {
  const { database, media } = foldersOf(patient.config)
  const folders = [...new Set([database, media].filter((folder) => folder !== undefined).map(existing))]
  const disks = await Promise.all(folders.map(async (folder) => ({ folder, disk: await readDisk(folder) })))
  const different = disks.filter(
    ({ disk }, at) => !disk || disks.findIndex((other) => other.disk?.device === disk.device) === at,
  )
  return await Promise.all(different.map(({ folder }) => checkDisk(folder, patient)))
}

async function checkDisk(folder: string, { config, randomBytes }: Patient): Promise<Finding> {
  const { ok, warning, failed } = findingsOf('disk')
  const disk = await readDisk(folder)
  if (!disk) return warning(`${folder}: its free space cannot be read`, 'watch its space yourself')
  const { reserveBytes, lastReserveBytes } = reservesOf(config.space, disk.totalBytes)
  const room = `${folder}: ${mib(disk.freeBytes)} of ${mib(disk.totalBytes)} free`
  const makeRoom = 'make room, or move DATA_DIR or MEDIA_DIR to a larger disk'
  if (disk.freeBytes < lastReserveBytes) return failed(`${room}, so nothing new is taken`, makeRoom)
  let syncMs: number
  try {
    syncMs = timeOfSync(join(folder, `.doctor-${Buffer.from(randomBytes(6)).toString('hex')}`))
  } catch (error) {
    return failed(
      `${folder}: this user cannot write there (${reasonOf(error)})`,
      'run this as the user of the relay, and give the folder to that user',
    )
  }
  if (IN_MEMORY.includes((await statfs(folder)).type))
    return failed(`${folder} is in memory, so a restart of the machine loses everything`, 'use a disk')
  if (disk.freeBytes < reserveBytes)
    return warning(`${room}, so media and registrations are refused`, makeRoom)
  const speed = `a sync takes ${syncMs.toPrecision(2)} ms`
  if (syncMs < LEAST_SYNC_MS)
    return warning(
      `${folder}: ${speed}, which no disk achieves, so a power cut may lose acknowledged messages`,
      'switch off what ignores syncs: eatmydata, or the cache mode “unsafe” of a virtual disk',
    )
  if (syncMs > MOST_SYNC_MS)
    return warning(`${folder}: ${speed}, and each message waits for one`, 'use a faster disk')
  return ok(`${room}; ${speed}`)
}

/** The median of some writes with a sync, in milliseconds. */
function timeOfSync(path: string): number {
  const file = openSync(path, 'wx', 0o600)
  try {
    const times: number[] = []
    for (let turn = 0; turn < SYNCS; turn++) {
      const before = performance.now()
      writeSync(file, Buffer.alloc(4096, turn), 0, 4096, 0)
      fsyncSync(file)
      times.push(performance.now() - before)
    }
    return times.sort((a, b) => a - b)[Math.floor(SYNCS / 2)] ?? 0
  } finally {
    closeSync(file)
    unlinkSync(path)
  }
}

// The relay makes its folders at the first start.
function existing(folder: string): string {
  const path = resolve(folder)
  return existsSync(path) || dirname(path) === path ? path : existing(dirname(path))
}

function mib(bytes: number): string {
  return `${Math.round(bytes / MIB)} MiB`
}
