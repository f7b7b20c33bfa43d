// Downloads into a file, for Bun and Node: the file is there once it is whole and proven, and not before.
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { ClientError } from '../client-error.ts'
import type { Spool } from './spool.ts'

export type { Spool }

/**
 * Holds a download in a file: `media.downloadInto(contact, content, { into: intoFile('./photo.jpg') })`. It lies in
 * `<path>.part`, readable by this user only, until it is proven, and is given its name then, in place of what had that name. A
 * crash may leave the `.part`; the next download into this file begins by overwriting it. Answers the path.
 *
 * What it does throws `STORE_FAILED` where the disk is full or the folder is none.
 */
export function intoFile(path: string): Spool<string> {
  const part = `${path}.part`
  let opening: Promise<FileHandle> | undefined
  const file = (): Promise<FileHandle> => {
    opening ??= open(part, 'w', 0o600)
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
        await handle.close()
        await rename(part, path)
        return path
      }),
    discard: () =>
      orFailed(async () => {
        // Nothing was written, or not even that worked.
        const handle = await opening?.catch(() => undefined)
        if (!handle) return
        await handle.close()
        await rm(part, { force: true })
      }),
  }
}

async function orFailed<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new ClientError('STORE_FAILED', 'the download could not be written', { cause })
  }
}
