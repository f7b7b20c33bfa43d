// Makes the names of new files durable, for Node and Bun.
import { open } from 'node:fs/promises'

/** Makes the names of the files in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  // Makes the file's name durable. Some systems cannot open a folder; they need no sync for that.
  try {
    const handle = await open(folder, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch {}
}
