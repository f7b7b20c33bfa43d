// What somebody with an account can try with uploads: more disk, more memory or more time than is counted.
import { describe, expect, test } from 'bun:test'
import { readdir, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { MediaAccount, noise } from './media-wire.ts'
import { useRelayWith } from './use-relay.ts'

const MIB = 1024 * 1024

describe('in a folder', () => {
  const relay = useRelayWith(async () => ({ LIMIT_MEDIA_BYTES: `${2 * MIB}` }))

  /** What lies on the disk, whatever is counted of it. */
  async function diskBytes(): Promise<number> {
    const folder = join(relay.process.dataDir, 'media')
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile())
    const sizes = files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size)
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  }

  test('parts that break off one after the other leave no more on the disk than one blob may be', async () => {
    const alice = await MediaAccount.make(relay.url)
    const upload = await alice.begin()
    for (let number = 1; number <= 20; number++) await breakOff(alice, upload, number, MIB)
    for (let left = 100; (await alice.usedBytes()) > 0 && left > 0; left--) await Bun.sleep(50)
    expect(await alice.usedBytes()).toBe(0)
    expect(await diskBytes()).toBeLessThanOrEqual(2 * MIB)
    await alice.abort(upload)
    expect(await diskBytes()).toBe(0)
  })

  test('parts that are replaced by smaller ones leave no more on the disk than one blob may be', async () => {
    const alice = await MediaAccount.make(relay.url)
    const upload = await alice.begin()
    for (let number = 1; number <= 20; number++) {
      expect((await alice.put(upload, number, noise(MIB))).status).toBe(200)
      expect((await alice.put(upload, number, noise(1))).status).toBe(200)
    }
    expect(await alice.usedBytes()).toBe(20)
    expect(await diskBytes()).toBeLessThanOrEqual(2 * MIB + 20)
    await alice.abort(upload)
    expect(await diskBytes()).toBe(0)
  })
})

/** Announces a part, sends nearly all of it and cuts the connection. */
async function breakOff(
  { account }: MediaAccount,
  { upload_id, media_key }: { upload_id: string; media_key: string },
  number: number,
  bytes: number,
): Promise<void> {
  const socket = connect(Number(new URL(account.base).port), '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  const path = `/api/v1/media/upload-parts/${upload_id}/chunk?mediaKey=${media_key}&partNumber=${number}`
  const head = [`POST ${path} HTTP/1.1`, 'host: relay', `authorization: Bearer ${account.token}`]
  socket.write(`${[...head, `content-length: ${bytes}`].join('\r\n')}\r\n\r\n`)
  await new Promise((resolve) => socket.write(noise(bytes - 1), resolve))
  await Bun.sleep(30)
  socket.destroy()
}
