// The bytes that the stores of blobs really hold on their disks.
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Swift describes an object of several parts in a file. It is smaller than this. */
export const LEAST_PART_BYTES = 4096

/** The bytes of the files in a folder. The holes of a file use no bytes. */
export async function bytesInFolder(folder: string): Promise<number> {
  return await sum(await filesIn(folder), (bytes) => bytes)
}

/** The bytes of the objects and parts in Swift that have at least {@link LEAST_PART_BYTES}. */
export async function bytesInSwift(disk: string): Promise<number> {
  const files = (await filesIn(disk)).filter((file) => file.endsWith('.data'))
  return await sum(files, (bytes) => (bytes < LEAST_PART_BYTES ? 0 : bytes))
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}

async function sum(files: readonly string[], count: (bytes: number) => number): Promise<number> {
  const sizes = files.map(async (file) => {
    // A store may remove a file while this reads the folder.
    const found = await stat(file).catch((error) => {
      if (error.code !== 'ENOENT') throw error
    })
    return found ? count(Math.min(found.size, found.blocks * 512)) : 0
  })
  return (await Promise.all(sizes)).reduce((total, bytes) => total + bytes, 0)
}
