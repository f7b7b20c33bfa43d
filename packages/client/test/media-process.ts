// A client in a process of its own that moves one file, and tells by how much its memory grew: `bun media-process.ts <json>`.
import { Media, MemoryStore, SottoClient } from '../src/client.ts'
import { intoFile } from '../src/media/into-file.ts'
import { noise } from './media-world.ts'

/** What the process is to do. */
export interface MediaTask {
  readonly relayUrl: string
  readonly mnemonic: string
  readonly contact: string
  /** The file to send, or where to put what is received. */
  readonly path: string
  /** What to download; an upload without it. */
  readonly mediaKey?: string
}

/** What came of it. */
export interface MediaOutcome {
  readonly mediaKey: string
  readonly sizeBytes: number
  readonly isProven?: boolean
  /** How much more memory the process had at most than before, in bytes. */
  readonly grownBytes: number
}

async function run({ relayUrl, mnemonic, contact, path, mediaKey }: MediaTask): Promise<MediaOutcome> {
  const client = await SottoClient.open({ relayUrl, store: new MemoryStore() })
  await client.recover({ mnemonic })
  await client.syncFriends()
  const media = new Media(client)
  // The code is loaded and compiled by a small one, so that what grows after it is for the file.
  const small = await media.upload(contact, noise(1000))
  await media.download(contact, small)

  const before = process.memoryUsage.rss()
  let most = before
  const watching = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss())
  }, 5)
  try {
    if (mediaKey === undefined) {
      const sent = await media.upload(contact, Bun.file(path))
      return { ...sent, grownBytes: most - before }
    }
    const got = await media.downloadInto(contact, { mediaKey }, { into: intoFile(path) })
    return { mediaKey, sizeBytes: got.sizeBytes, isProven: got.isProven, grownBytes: most - before }
  } finally {
    clearInterval(watching)
    await client.close()
  }
}

if (import.meta.main) console.log(JSON.stringify(await run(JSON.parse(process.argv[2] ?? ''))))
