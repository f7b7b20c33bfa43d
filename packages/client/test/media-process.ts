// A process whose client transfers one file. It prints a MediaOutcome with the growth of its memory. Usage:
// `bun media-process.ts <MediaTask as JSON>`.
import { Media, MemoryStore, SottoClient } from '../src/client.ts'
import { intoFile } from '../src/media/into-file.ts'
import { noise } from './media-world.ts'

/** The task of the process. */
export interface MediaTask {
  readonly relayUrl: string
  readonly mnemonic: string
  readonly contact: string
  /** The file to upload, or the path where the download is stored. */
  readonly path: string
  /** The media to download. Without it, the process uploads the file. */
  readonly mediaKey?: string
}

/** The result of the transfer. */
export interface MediaOutcome {
  readonly mediaKey: string
  readonly sizeBytes: number
  readonly isProven?: boolean
  /** The peak memory of the process during the transfer minus its memory before, in bytes. */
  readonly grownBytes: number
}

async function run({ relayUrl, mnemonic, contact, path, mediaKey }: MediaTask): Promise<MediaOutcome> {
  const client = await SottoClient.open({ relayUrl, store: new MemoryStore() })
  await client.recover({ mnemonic })
  await client.syncFriends()
  const media = new Media(client)
  // A small transfer first loads and compiles the code, so the memory measured later grows only for the file.
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
