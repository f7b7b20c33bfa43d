// 100 MB between two clients, each a process of its own, by a network that is cut and a relay that is killed on the way.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import type { MediaOutcome, MediaTask } from './media-process.ts'
import { type CuttableWay, MIB, noise, startWay } from './media-world.ts'
import { Person, until } from './people.ts'

const SIZE = 100_000_000
/** The same for any size: what garbage collectors let gather of pieces of 5 MiB. */
const MOST_GROWTH = 80 * MIB

let relay: RelayProcess
let way: CuttableWay
let folder: string

beforeAll(async () => {
  relay = await startRelay()
  way = await startWay(relay.url)
  folder = await mkdtemp(join(tmpdir(), 'sotto-large-'))
})
afterAll(async () => {
  await way.stop()
  await relay.stop()
  await rm(folder, { recursive: true })
})

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
async function trouble(bytes: number): Promise<void> {
  const from = way.passed()
  await until('some has passed', () => way.passed() - from > bytes, 120_000)
  way.cut()
  await Bun.sleep(1000)
  way.mend()
  await until('more has passed', () => way.passed() - from > 2 * bytes, 120_000)
  await relay.kill('SIGKILL')
  await relay.start()
}

test('it goes up and comes down, through cuts and a killed relay, in little memory', async () => {
  const [alice, bob] = [await Person.join('alice', relay.url), await Person.join('bob', relay.url)]
  await alice.befriend(bob)
  const taskOf = (person: Person, contact: Person, path: string): MediaTask => ({
    relayUrl: way.url,
    mnemonic: person.client.identity?.mnemonic ?? '',
    contact: contact.alias,
    path: join(folder, path),
  })
  const file = noise(SIZE)
  await writeFile(join(folder, 'sent'), file)
  const [up] = await Promise.all([inProcess(taskOf(alice, bob, 'sent')), trouble(SIZE / 3)])
  expect(up.sizeBytes).toBe(SIZE)

  const task = { ...taskOf(bob, alice, 'got'), mediaKey: up.mediaKey }
  const [down] = await Promise.all([inProcess(task), trouble(SIZE / 3)])
  expect(down).toMatchObject({ sizeBytes: SIZE, isProven: true })
  expect(Buffer.compare(await readFile(join(folder, 'got')), file)).toBe(0)
  expect((await readdir(folder)).sort()).toEqual(['got', 'sent'])
  console.log(
    `memory grown by ${(up.grownBytes / MIB).toFixed(1)} and ${(down.grownBytes / MIB).toFixed(1)} MiB`,
  )
  expect(Math.max(up.grownBytes, down.grownBytes)).toBeLessThan(MOST_GROWTH)
  await Promise.all([alice.client.close(), bob.client.close()])
}, 300_000)
