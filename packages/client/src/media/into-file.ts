// Downloads into a file, for Bun and Node: the file is there once it is whole and proven, and not before.
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises'
import { ClientError } from '../client-error.ts'
import type { Spool } from './spool.ts'

export type { Spool }

/**
 * Holds a download in a file: `media.downloadInto(contact, content, { into: intoFile('./photo.jpg') })`. It lies in
 * `<path>.part`, readable by this user only, until it is proven, and is given its name then, in place of what had that name. A
 * crash may leave the `.part`; the next download into this file begins by removing it. Answers the path.
 *
 * Where the file is to be is the application's to say: a name that came with a message may lead anywhere (`../../.profile`).
 *
 * What it does throws `STORE_FAILED` where the disk is full or the folder is none.
 */
export function intoFile(path: string): Spool<string> {
  const part = `${path}.part`
  let opening: Promise<FileHandle> | undefined
  const file = (): Promise<FileHandle> => {
    opening ??= openAnew(part)
    return opening
  }
  return {
    write: (bytes) =>
      orFailed(async () => {
        await (await file()).writeFile(bytes)
      }),
    finish: () =>
      orFailed(async () => {
        const handle = await file()
        await handle.sync()
        if (!(await isAt(part, handle))) throw new Error('another download took its place')
        await rename(part, path)
        await handle.close()
        return path
      }),
    discard: () =>
      orFailed(async () => {
        // Nothing was written, or not even that worked.
        const handle = await opening?.catch(() => undefined)
        if (!handle) return
        const isOurs = await isAt(part, handle).catch(() => false)
        await handle.close()
        if (isOurs) await rm(part, { force: true })
      }),
  }
}

// What has the name already is not written to: it may be a link to another file, or others may be able to read it.
async function openAnew(path: string): Promise<FileHandle> {
  await rm(path, { force: true })
  return await open(path, 'wx', 0o600)
}

async function isAt(path: string, handle: FileHandle): Promise<boolean> {
  const [there, ours] = await Promise.all([lstat(path), handle.stat()])
  return there.ino === ours.ino && there.dev === ours.dev
}

async function orFailed<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new ClientError('STORE_FAILED', 'the download could not be written', { cause })
  }
}
