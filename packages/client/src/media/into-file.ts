// Downloads into a file, for Bun and Node: the file appears only once it is complete and proven.
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises'
import { ClientError } from '../client-error.ts'
import type { Spool } from './spool.ts'

export type { Spool }

/**
 * Downloads into a file: `media.downloadInto(contact, content, { into: intoFile('./photo.jpg') })`. Until the
 * download is proven, it is in `<path>.part`, which only this user can read. Then it is renamed to `path`,
 * and replaces a file of that name. A crash may leave the `.part` file; the next download into this file
 * removes it first. The result is the path.
 *
 * The application must choose the path: a name from a message may lead anywhere (`../../.profile`).
 *
 * Its methods throw `STORE_FAILED` if the disk is full or the folder does not exist.
 */
export function intoFile(path: string): Spool<string> {
  const part = `${path}.part`
  let opening: Promise<FileHandle> | undefined
  const file = (): Promise<FileHandle> => {
    opening ??= openNew(part)
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
        // Nothing was written, or the file could not be opened.
        const handle = await opening?.catch(() => undefined)
        if (!handle) return
        const isSameFile = await isAt(part, handle).catch(() => false)
        await handle.close()
        if (isSameFile) await rm(part, { force: true })
      }),
  }
}

// An existing file of this name is replaced, not written to: it may be a link to another file, or other users
// may be able to read it.
async function openNew(path: string): Promise<FileHandle> {
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
