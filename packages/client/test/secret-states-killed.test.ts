// A process that is killed at any of its writes to the disk loses no secret state, and its former keys open
// nothing once the store was opened again.
import { afterAll, expect, test } from 'bun:test'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FileStore } from '../src/stores/file-store.ts'
import { openSlotsOf } from '../src/stores/open-slots.ts'
import { openStates, RememberedBytes, text } from './stores/secret-states-world.ts'
import { conversationId } from './stores/store-contract.ts'

const SCRIPT = join(import.meta.dir, 'stores/secret-states-process.ts')
const root = await mkdtemp(join(tmpdir(), 'sotto-killed-'))
afterAll(() => rm(root, { recursive: true }))

/** Runs the process. Returns the number of the last write that resolved, and whether it came to its end. */
async function runUntil(folder: string, endAt: number, when: string) {
  const child = Bun.spawn([process.execPath, SCRIPT, folder, String(endAt), when], { stdout: 'pipe' })
  const lines = (await new Response(child.stdout).text()).split('\n').filter((line) => line !== '')
  await child.exited
  return {
    last: Number(lines.findLast((line) => line !== 'closed') ?? 0),
    hasEnded: lines.includes('closed'),
    signal: child.signalCode,
  }
}

test('a process killed before or after any of its writes loses nothing and leaves no former key', async () => {
  let runs = 0
  let rotations = 0
  for (let endAt = 0; ; endAt += 1) {
    const folder = join(root, `${endAt}`)
    const { last, hasEnded, signal } = await runUntil(folder, endAt, endAt % 2 === 0 ? 'before' : 'after')
    if (hasEnded) break
    expect(signal).toBe('SIGKILL')
    runs += 1
    const store = await FileStore.open(folder)
    const random = new RememberedBytes()
    const before = await openSlotsOf(store)
    const leftKeys = (await before.read()).filter((slot) => slot.some((byte) => byte !== 0))
    await before.close()
    if (leftKeys.length === 2) rotations += 1
    const states = await openStates(store, { randomBytes: random.take })
    const messages = (await store.listMessages(conversationId)).length
    expect([last, last + 1]).toContain(messages)
    expect(states.outcome).toBe(messages === 0 ? 'new' : 'opened')
    expect(text(await states.get('conversation', 'a'))).toBe(messages === 0 ? undefined : `${messages}`)
    await states.write([{ kind: 'conversation', id: 'a', state: new Uint8Array(9) }], [], { rotates: true })
    await states.close()
    await store.close()
    const files = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name))))
    for (const key of leftKeys) expect(Buffer.concat(files).includes(key)).toBe(false)
    expect(random.keys.filter((key) => Buffer.concat(files).includes(key))).toHaveLength(1)
  }
  // It was killed also between the two writes of the slots.
  expect(runs).toBeGreaterThan(20)
  expect(rotations).toBeGreaterThan(1)
})
