// Nodes that die or stop in the middle of work that only one may do: another one takes it over, and the one
// that wakes up writes nothing.
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { openPostgresBeside } from '../src/storage/postgres.ts'
import { engines } from './engines.ts'

setDefaultTimeout(240_000)
const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

/** A process with a lease, see lease-process.ts. */
async function startNode(url: string, name: string) {
  const node = Bun.spawn([process.execPath, join(import.meta.dir, 'lease-process.ts'), url, name], {
    ...{ stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' },
    env: { PATH: process.env.PATH ?? '' },
  })
  const kill = async (): Promise<void> => {
    node.kill('SIGKILL')
    await node.exited
  }
  endings.push(kill)
  const output = node.stdout.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]()
  let read = ''
  return {
    kill,
    signal: (signal: NodeJS.Signals) => node.kill(signal),
    tell: (line: string): void => {
      node.stdin.write(`${line}\n`)
      node.stdin.flush()
    },
    /** The next line that it prints. */
    next: async (): Promise<string> => {
      while (!read.includes('\n')) {
        const { value, done } = await output.next()
        if (done) throw new Error('the node has ended')
        read += value
      }
      const [line = ''] = read.split('\n', 1)
      read = read.slice(line.length + 1)
      return line
    },
  }
}

async function openWorld() {
  const postgres = engines.find(({ name }) => name === 'PostgreSQL')
  const { DATABASE_URL: url = '' } = (await postgres?.environment()) ?? {}
  const storage = openPostgresBeside(url, { connections: 1 })
  endings.push(() => storage.close())
  const first = await startNode(url, 'by first')
  expect(await first.next()).toBe('turn')
  const second = await startNode(url, 'by second')
  const written = async (): Promise<string[]> => {
    const rows = await storage.sql<{ name: string }>`
      SELECT name FROM relay_state WHERE name LIKE 'by %' ORDER BY name`
    return rows.map(({ name }) => name)
  }
  return { first, second, written }
}

test('after a node was killed, another one has the turn', async () => {
  const { first, second, written } = await openWorld()
  await first.kill()
  expect(await second.next()).toBe('turn')
  second.tell('begin')
  second.tell('write')
  expect([await second.next(), await second.next()]).toEqual(['entered', 'written'])
  expect(await written()).toEqual(['by second'])
})

test('a node that slept between two transactions cannot write when it wakes up', async () => {
  const { first, second, written } = await openWorld()
  first.signal('SIGSTOP')
  expect(await second.next()).toBe('turn')
  first.tell('begin')
  first.signal('SIGCONT')
  expect(await first.next()).toBe('TurnOver')
  expect(await written()).toEqual([])
})

test('a node that slept in the middle of a transaction cannot commit it, and does not hold up the other', async () => {
  const { first, second, written } = await openWorld()
  first.tell('begin')
  expect(await first.next()).toBe('entered')
  first.signal('SIGSTOP')
  expect(await second.next()).toBe('turn')
  second.tell('begin')
  second.tell('write')
  expect([await second.next(), await second.next()]).toEqual(['entered', 'written'])
  first.tell('write')
  first.signal('SIGCONT')
  expect(await first.next()).not.toBe('written')
  expect(await written()).toEqual(['by second'])
})
