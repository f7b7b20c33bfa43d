// Reads how much space a disk has.
import { stat, statfs } from 'node:fs/promises'

/** The file system that a folder is on. */
export interface Disk {
  /** Its number. Two folders with the same number share their space. */
  readonly device: number
  readonly totalBytes: number
  readonly usedBytes: number
  /** What this process can still write. */
  readonly freeBytes: number
}

/** The disk of a folder; undefined if it cannot be read or does not say its size, as some do not. */
export async function readDisk(folder: string): Promise<Disk | undefined> {
  try {
    const [{ dev: device }, { blocks, bfree, bavail, bsize }] = await Promise.all([
      stat(folder),
      statfs(folder),
    ])
    if (blocks === 0) return undefined
    return {
      device,
      totalBytes: blocks * bsize,
      usedBytes: (blocks - bfree) * bsize,
      freeBytes: bavail * bsize,
    }
  } catch {
    return undefined
  }
}

/** Whether a file operation failed because the disk, or this user's share of it, is full. */
export function isFullDiskError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
}
