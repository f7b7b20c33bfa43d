// Makes the names of new files durable, for Node and Bun.
import { open } from 'node:fs/promises'

/** How systems say that a folder is not opened, or not synced. */
const UNSUPPORTED = new Set(['EISDIR', 'EPERM', 'EACCES', 'EINVAL', 'ENOTSUP'])

/** Makes the names of the files in a folder durable. Rejects if the disk fails. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch (error) {
    // Some systems cannot open a folder, or sync it. They need no sync for that.
    if (!(error instanceof Error && 'code' in error && UNSUPPORTED.has(String(error.code)))) throw error
  }
}
