// `npm run bench -- search`: finding messages among 100,000 on the device, in memory, in a file store and in
// Chromium's IndexedDB. The floor looks for the same text in an array of all texts.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConversationId, check } from '@sotto/protocol'
import { type ClientStore, MemoryStore, Search } from '../packages/client/src/client.ts'
import { FileStore } from '../packages/client/src/stores/file-store.ts'
import type { StoreChange } from '../packages/client/src/stores/records.ts'
import { serveApp, startChromium } from '../packages/client/test/browser/chromium.ts'
import type { SearchPage } from '../packages/client/test/browser/search-app.ts'
import { Person } from '../packages/client/test/people.ts'
import type { Bench } from './bench.ts'
import { QUERIES, textsOf } from './load/search-corpus.ts'
import { median, percentile } from './measure.ts'
import { startMeasuredRelay } from './server-process.ts'

const MESSAGES = 100_000
const CHANGES = 2000
const ROUNDS = 5

type Find = (text: string) => Promise<{ readonly count: number; readonly ms: number }>

export const search: Bench = {
  means: 'finding messages among 100,000 on the device: in memory, in a file store, in Chromium’s IndexedDB',
  run: async () => {
    const relay = await startMeasuredRelay()
    const texts = textsOf(MESSAGES)
    const folder = await mkdtemp(join(tmpdir(), 'sotto-search-'))
    const rows = [
      ...(await inProcess('memory', new MemoryStore(), relay.url, texts)),
      ...(await inProcess('a file store', await FileStore.open(folder), relay.url, texts)),
      ...(await inChromium(relay.url, texts)),
      ...(await measure('the floor', { prepare: async () => 0, heap: async () => 0, find: floorOf(texts) })),
    ]
    await relay.stop()
    await rm(folder, { recursive: true })
    return { settings: { messages: MESSAGES, characters: texts.join('').length, rounds: ROUNDS }, rows }
  },
}

async function inProcess(name: string, store: ClientStore, url: string, texts: readonly string[]) {
  const [alice, bob] = [await Person.join('alice', url, { store }), await Person.join('bob', url)]
  const conversationId = await alice.befriend(bob)
  for (const changes of changesOf(texts, conversationId)) await store.write(changes)
  const searching = new Search(alice.client)
  const rows = await measure(name, {
    prepare: async () => {
      const startedAt = performance.now()
      await searching.find('first')
      return performance.now() - startedAt
    },
    heap: async () => {
      Bun.gc(true)
      return process.memoryUsage().heapUsed
    },
    find: async (text) => {
      const startedAt = performance.now()
      const { results } = await searching.find(text)
      return { count: results.length, ms: performance.now() - startedAt }
    },
  })
  for (const { client } of [alice, bob]) await client.close()
  return rows
}

async function inChromium(url: string, texts: readonly string[]) {
  const app = await serveApp(join(import.meta.dir, '../packages/client/test/browser/search-app.ts'))
  const browser = await startChromium()
  const page = await browser.newPage()
  await page.goto(`${app.url}#${url}`)
  await page.waitForFunction(() => 'isReady' in globalThis)
  const call = <N extends keyof Calls>(
    name: N,
    ...args: Parameters<Calls[N]>
  ): Promise<Awaited<ReturnType<Calls[N]>>> =>
    page.evaluate(({ name, args }) => Reflect.apply(Reflect.get(globalThis, name), undefined, args), {
      name,
      args,
    })
  await call('create')
  for (const changes of changesOf(texts, crypto.randomUUID())) await call('write', changes)
  const devTools = await page.context().newCDPSession(page)
  const rows = await measure('IndexedDB', {
    prepare: () => call('index'),
    heap: async () => {
      await devTools.send('HeapProfiler.collectGarbage')
      return (await devTools.send('Runtime.getHeapUsage')).usedSize
    },
    find: (text) => call('find', text),
  })
  await browser.close()
  await app.stop()
  return rows
}

type Calls = Omit<SearchPage, 'isReady'>

interface Searched {
  /** Makes a search of 100,000 messages ready. Returns how long that took, in milliseconds. */
  prepare(): Promise<number>
  /** The bytes in use, without garbage. */
  heap(): Promise<number>
  readonly find: Find
}

async function measure(store: string, { prepare, heap, find }: Searched) {
  const before = await heap()
  const prepareMs = await prepare()
  const heapMiB = ((await heap()) - before) / 2 ** 20
  const all: number[] = []
  const rows: Record<string, string | number>[] = []
  for (const [kind, queries] of Object.entries(QUERIES)) {
    const took: number[] = []
    let found = 0
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const text of queries) {
        const { count, ms } = await find(text)
        took.push(ms)
        found += count
      }
    }
    all.push(...took)
    rows.push(rowOf(store, kind, took, { 'results, mean': Math.round(found / took.length) }))
  }
  return [
    rowOf(store, 'all', all, { 'first, ms': Math.round(prepareMs), 'memory, MiB': Math.round(heapMiB) }),
    ...rows,
  ]
}

function rowOf(store: string, query: string, took: readonly number[], more: Record<string, number>) {
  const of = (ms: number): number => Math.round(ms * 10) / 10
  return {
    store,
    query,
    'p50 ms': of(median(took)),
    'p90 ms': of(percentile(took, 90)),
    'most ms': of(Math.max(...took)),
    ...more,
  }
}

function floorOf(texts: readonly string[]): Find {
  return async (text) => {
    const startedAt = performance.now()
    const found = texts.filter((each) => each.includes(text))
    return { count: found.length, ms: performance.now() - startedAt }
  }
}

function* changesOf(texts: readonly string[], id: string): Generator<StoreChange[]> {
  const conversationId = check(ConversationId, id)
  for (let start = 0; start < texts.length; start += CHANGES)
    yield texts.slice(start, start + CHANGES).map((text, at) => ({
      change: 'message',
      message: {
        id: crypto.randomUUID(),
        conversationId,
        text,
        isMe: false,
        time: 1_700_000_000_000 + start + at,
        status: 'delivered',
        msgType: 'text',
        seq: 1 + start + at,
      },
    }))
}
