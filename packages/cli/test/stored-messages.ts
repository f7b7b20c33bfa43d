// What a chat has stored, read from its folder after it has ended.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { StoredMessage } from '@sotto/client'
import { FileStore } from '@sotto/client/file-store'

/** The messages of the only conversation in a home. */
export async function storedIn(home: string): Promise<readonly StoredMessage[]> {
  const [folder = ''] = await readdir(home)
  const store = await FileStore.open(join(home, folder))
  try {
    const [session] = await store.listSessions()
    return session ? await store.listMessages(session.conversationId) : []
  } finally {
    await store.close()
  }
}
