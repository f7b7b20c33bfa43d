// 100 MB between two clients, each a process of its own, by a network that is cut and a relay that is killed on the way.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { swiftEnvironment } from '../../relay/test/media-stores.ts'
import type { MediaOutcome, MediaTask } from './media-process.ts'
import { type CuttableWay, MIB, noise, startWay } from './media-world.ts'
import { Person, until } from './people.ts'

const SIZE = 100_000_000
/** The same for any size: what garbage collectors let gather of pieces of 5 MiB. */
const MOST_GROWTH_MIB = 76

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-large-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Has a process of its own do it. */
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

/** Cuts the network for a moment once so many more bytes have passed, and kills the relay once as many have again. */
async function trouble(relay: RelayProcess, way: CuttableWay, bytes: number): Promise<void> {
  const from = way.passed()
  await until('some has passed', () => way.passed() - from > bytes, 120_000)
  way.cut()
  await Bun.sleep(1000)
  way.mend()
  await until('more has passed', () => way.passed() - from > 2 * bytes, 120_000)
  await relay.kill('SIGKILL')
  await relay.start()
}

const places = [
  { name: 'a folder', environment: async () => ({}) },
  { name: 'Swift', environment: swiftEnvironment },
]
for (const { name, environment } of places) {
  test(`by a relay with its blobs in ${name}: through cuts and a kill, in little memory`, async () => {
    const relay = await startRelay({ env: await environment() })
    const way = await startWay(relay.url)
    const [alice, bob] = [await Person.join('alice', relay.url), await Person.join('bob', relay.url)]
    try {
      await alice.befriend(bob)
      const taskOf = (person: Person, contact: Person, path: string): MediaTask => ({
        relayUrl: way.url,
        mnemonic: person.client.identity?.mnemonic ?? '',
        contact: contact.alias,
        path: join(folder, path),
      })
      const file = noise(SIZE)
      await writeFile(join(folder, 'sent'), file)
      const going = inProcess(taskOf(alice, bob, 'sent'))
      const [up] = await Promise.all([going, trouble(relay, way, SIZE / 3)])
      expect(up.sizeBytes).toBe(SIZE)

      const coming = inProcess({ ...taskOf(bob, alice, 'got'), mediaKey: up.mediaKey })
      const [down] = await Promise.all([coming, trouble(relay, way, SIZE / 3)])
      expect(down).toMatchObject({ sizeBytes: SIZE, isProven: true })
      expect(Buffer.compare(await readFile(join(folder, 'got')), file)).toBe(0)
      expect((await readdir(folder)).sort()).toEqual(['got', 'sent'])
      const grown = [up, down].map(({ grownBytes }) => grownBytes / MIB)
      console.log(`memory grown by ${grown.map((mib) => mib.toFixed(1)).join(' and ')} MiB`)
      expect(Math.max(...grown)).toBeLessThan(MOST_GROWTH_MIB)
    } finally {
      await Promise.all([alice.client.close(), bob.client.close()])
      await way.stop()
      await relay.stop()
    }
  }, 600_000)
}
