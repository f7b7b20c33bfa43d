// Transfers 100 MB between two clients in separate processes. During the transfer the test cuts the network
// and kills the relay.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { swiftEnvironment } from '../../relay/test/media-stores.ts'
import type { MediaOutcome, MediaTask } from './media-process.ts'
import { type CuttablePath, MIB, noise, startCuttablePath } from './media-world.ts'
import { Person, until } from './people.ts'

const SIZE = 100_000_000
/**
 * The limit does not depend on the file's size. It allows for chunks of 5 MiB that the garbage collector has
 * not freed yet.
 */
const MAX_GROWTH_MIB = 76

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-large-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Runs the task in a separate process. */
function inProcess(task: MediaTask): Promise<MediaOutcome> {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, 'media-process.ts'), JSON.stringify(task)],
    {
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )
  const read = async (): Promise<MediaOutcome> => {
    const [output, errors] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    if ((await child.exited) !== 0) throw new Error(errors)
    return JSON.parse(output)
  }
  return read()
}

/** Cuts the network briefly after this many bytes, and kills and restarts the relay after twice as many. */
async function disturb(relay: RelayProcess, network: CuttablePath, bytes: number): Promise<void> {
  const from = network.passed()
  await until('a third of the file has passed', () => network.passed() - from > bytes, 120_000)
  const refused = network.refused()
  network.cut()
  await until('a client has tried to connect without success', () => network.refused() > refused)
  network.mend()
  await until('two thirds of the file have passed', () => network.passed() - from > 2 * bytes, 120_000)
  await relay.kill('SIGKILL')
  await relay.start()
}

const storages = [
  { name: 'a folder', environment: async () => ({}) },
  { name: 'Swift', environment: swiftEnvironment },
]
for (const { name, environment } of storages) {
  test(`a file of 100 MB survives network cuts and a relay crash in little memory, with blobs in ${name}`, async () => {
    const relay = await startRelay({ env: await environment() })
    const network = await startCuttablePath(relay.url)
    const [alice, bob] = [await Person.join('alice', relay.url), await Person.join('bob', relay.url)]
    try {
      await alice.befriend(bob)
      const taskOf = (person: Person, contact: Person, path: string): MediaTask => ({
        relayUrl: network.url,
        mnemonic: person.client.identity?.mnemonic ?? '',
        contact: contact.alias,
        path: join(folder, path),
      })
      const file = noise(SIZE)
      await writeFile(join(folder, 'sent'), file)
      const uploading = inProcess(taskOf(alice, bob, 'sent'))
      const [up] = await Promise.all([uploading, disturb(relay, network, SIZE / 3)])
      expect(up.sizeBytes).toBe(SIZE)

      const downloading = inProcess({ ...taskOf(bob, alice, 'got'), mediaKey: up.mediaKey })
      const [down] = await Promise.all([downloading, disturb(relay, network, SIZE / 3)])
      expect(down).toMatchObject({ sizeBytes: SIZE, isProven: true })
      expect(Buffer.compare(await readFile(join(folder, 'got')), file)).toBe(0)
      expect((await readdir(folder)).sort()).toEqual(['got', 'sent'])
      const grown = [up, down].map(({ grownBytes }) => grownBytes / MIB)
      console.log(`memory grown by ${grown.map((mib) => mib.toFixed(1)).join(' and ')} MiB`)
      expect(Math.max(...grown)).toBeLessThan(MAX_GROWTH_MIB)
    } finally {
      await Promise.all([alice.client.close(), bob.client.close()])
      await network.stop()
      await relay.stop()
    }
  }, 600_000)
}
