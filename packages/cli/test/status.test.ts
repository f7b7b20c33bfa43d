// sotto status at a running relay, at the store of a stopped one, and again and again.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Status } from '@sotto/relay'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { wireAccount } from '@sotto/relay/testing/wire'
import { engines } from '../../relay/test/engines.ts'

const MAIN = join(import.meta.dir, '../src/main.ts')
let relay: RelayProcess
beforeAll(async () => {
  relay = await startRelay()
}, 120_000)
afterAll(() => relay.stop())

function start(...args: string[]) {
  return startAt(relay, ...args)
}

function startAt({ dataDir }: RelayProcess, ...args: string[]) {
  return Bun.spawn([process.execPath, MAIN, 'status', ...args, '--data-dir', dataDir], {
    env: { PATH: process.env.PATH ?? '' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

async function status(...args: string[]): Promise<string> {
  const child = start(...args)
  const [output, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  expect([code, errors]).toEqual([0, ''])
  return output
}

const read = async (): Promise<Status> => JSON.parse(await status('--json'))

test('the figures are those of the running relay, and of its store when it is stopped', async () => {
  const alice = await wireAccount(relay.url)
  await wireAccount(relay.url)
  const socket = await alice.connect()
  const { relay: running, accounts, database, media } = await read()
  expect({ accounts, connections: running?.connections, storage: running?.storage }).toEqual({
    accounts: 2,
    connections: 1,
    storage: 'ok',
  })
  expect(database.engine).toBe('SQLite')
  expect(database.disk?.total_bytes).toBeGreaterThan(database.disk?.free_bytes ?? Number.POSITIVE_INFINITY)
  expect(media).toMatchObject({ blobs: 0, bytes: 0 })
  const text = await status()
  expect(text).toMatch(/^Sotto \S+, running for \d+ min \d+ s\nConnections {2}1\n/)
  expect(text).toMatch(/^Messages {5}0 waiting$/m)
  expect(text).toMatch(/^Reports {6}0 open$/m)
  await socket.close()

  await relay.kill('SIGTERM')
  const stopped = await read()
  expect([stopped.relay, stopped.accounts]).toEqual([null, 2])
  expect(await status()).toStartWith(
    'No relay runs on this data folder. Its store contains:\nAccounts     2\n',
  )
  await relay.start()
}, 240_000)

test('with --watch they are shown again, also after the relay was stopped', async () => {
  const child = start('--watch', '--json')
  const lines = linesOf(child.stdout)
  const next = async (): Promise<Status> => JSON.parse((await lines.next()).value ?? '')
  expect((await next()).relay).not.toBeNull()
  await relay.kill('SIGTERM')
  while ((await next()).relay !== null);
  await relay.start()
  while ((await next()).relay === null);
  child.kill('SIGINT')
  await child.exited
}, 240_000)

test('the nodes that share a PostgreSQL are listed, with what is wrong with them', async () => {
  const postgres = engines.find(({ name }) => name === 'PostgreSQL')
  const env = { ...(await postgres?.environment()) }
  const [one, two] = [await startRelay({ env }), await startRelay({ env })]
  try {
    const placeOf = ({ url }: RelayProcess): string => `${hostname()}:${new URL(url).port}`
    const text = await new Response(startAt(one).stdout).text()
    const lines = text.split('\n').filter((line) => line.startsWith('Node '))
    expect(lines.map((line) => line.replace(/^Node +(?<place>[^,]+), [^,]+, /, '$<place>: ')).sort()).toEqual(
      [`${placeOf(one)}: alive, 0 connections, this one`, `${placeOf(two)}: alive, 0 connections`].sort(),
    )
    expect(text).toMatch(/^Connections {2}0, 0 of them at this node$/m)
    await two.kill('SIGKILL')
    const silent = new RegExp(`^Node .*${placeOf(two)}, .*, SILENT for \\d+ min \\d+ s$`, 'm')
    while (!silent.test(await new Response(startAt(one).stdout).text()));
  } finally {
    await one.stop()
    await two.stop()
  }
}, 240_000)

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of stream) {
    text += decoder.decode(piece, { stream: true })
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      yield text.slice(0, end)
      text = text.slice(end + 1)
    }
  }
}
