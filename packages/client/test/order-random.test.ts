// Many messages of a conversation are under way at once. Whatever is refused, lost, retracted or killed
// meanwhile, the other side sees the messages in the order in which they were posted, each once.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import fc from 'fast-check'
import { rounds } from '../../protocol/test/rounds.ts'
import type { StoredMessage } from '../src/client.ts'
import { FileStore } from '../src/stores/file-store.ts'
import { BadLine, type Fate } from './bad-line.ts'
import { Person, until } from './people.ts'
import { makeProcessFolder } from './process-folder.ts'

// Long, because a busy machine is slow. A wait that fails names what did not happen.
setDefaultTimeout(400_000)

const MAILBOX_MESSAGES = 10

let relay: RelayProcess
let root: string

beforeAll(async () => {
  root = await makeProcessFolder('order')
  // Both bounds are small, so the relay refuses by itself: by number, and large messages before small ones.
  relay = await startRelay({
    env: {
      LIMIT_CONVERSATION_PERCENT: '100',
      LIMIT_MAILBOX_MESSAGES: String(MAILBOX_MESSAGES),
      LIMIT_MAILBOX_BYTES: String(1024 * 1024),
    },
  })
})
afterAll(() => relay.stop())

type Step =
  | { readonly do: 'post'; readonly kinds: readonly ('small' | 'large' | 'media')[] }
  | { readonly do: 'refuse'; readonly fates: readonly Fate[] }
  | { readonly do: 'retract'; readonly back: number }
  | { readonly do: 'break'; readonly arrivesLate: boolean }
  | { readonly do: 'crash'; readonly arrivesLate: boolean }
  | { readonly do: 'read' | 'kill the relay' | 'fill the mailbox' }

const kinds = fc.constantFrom('small' as const, 'small' as const, 'large' as const, 'media' as const)
const fates = fc.constantFrom<Fate>('passes', 'passes', 'passes', 'INTERNAL', 'RATE_LIMITED', 'INVALID_FIELD')
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('post' as const),
      kinds: fc.array(kinds, { minLength: 1, maxLength: 25 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('refuse' as const),
      fates: fc.array(fates, { minLength: 1, maxLength: 10 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('retract' as const), back: fc.nat({ max: 20 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('break' as const), arrivesLate: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const), arrivesLate: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('read' as const, 'fill the mailbox' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill the relay' as const) }) },
)

let folders = 0

function nextFolder(): string {
  folders += 1
  return join(root, `alice-${folders}`)
}

/** Alice, whose line is bad and who crashes, and what she has posted. */
class Alice {
  person: Person
  line: BadLine
  folder: string
  readonly posted: string[] = []
  /** The messages whose `send` has returned, so that no crash may lose them. */
  readonly kept = new Set<string>()
  readonly retracted = new Set<string>()
  refusedByRelay = 0
  mostUnderWay = 0
  #pending: Promise<unknown>[] = []

  private constructor(opened: { person: Person; line: BadLine; folder: string }) {
    ;({ person: this.person, line: this.line, folder: this.folder } = opened)
  }

  static async join(): Promise<Alice> {
    const alice = new Alice(await Alice.#open(nextFolder()))
    await alice.person.client.create({ nickname: 'alice' })
    await alice.person.connect()
    return alice
  }

  static async #open(
    folder: string,
    passed = new Set<string>(),
  ): Promise<{ person: Person; line: BadLine; folder: string }> {
    const line = new BadLine(() => Math.random() * 2, passed)
    const options = { store: await FileStore.open(folder), WebSocket: line.Socket }
    return { person: await Person.open('alice', relay.url, options), line, folder }
  }

  post(to: string, kind: 'small' | 'large' | 'media'): void {
    const id = `m${this.posted.length}`
    this.posted.push(id)
    const content = {
      small: id,
      large: `${id} ${'x'.repeat(45_000)}`,
      media: { kind: 'voice', mediaKey: `m_${'A'.repeat(22)}`, durationMs: 1000 } as const,
    }[kind]
    const sending = this.person.client.send(to, content, { id }).then(() => this.kept.add(id))
    // A crash ends the sends that have not returned.
    this.#pending.push(sending.catch(() => undefined))
  }

  async retract(to: string, back: number): Promise<void> {
    await Promise.all(this.#pending)
    const id = this.posted.at(-1 - back)
    if (id === undefined || !this.kept.has(id)) return
    const { failure } = (await this.person.client.messages(to)).find((message) => message.id === id) ?? {}
    if (failure !== undefined) return
    this.retracted.add(id)
    await this.person.client.retract(to, id)
  }

  /** The process ends at once: a copy of its files is all that remains. */
  async crash(arrivesLate: boolean): Promise<void> {
    const before = this.person
    this.#count()
    this.line.cut(arrivesLate)
    const folder = nextFolder()
    const kept = [...this.kept]
    cpSync(this.folder, folder, { recursive: true, filter: (path) => !path.endsWith('lock') })
    before.client.disconnect()
    await before.client.close()
    await Promise.all(this.#pending)
    // What was stored after the copy is not in it.
    this.kept.clear()
    for (const id of kept) this.kept.add(id)
    ;({
      person: this.person,
      line: this.line,
      folder: this.folder,
    } = await Alice.#open(folder, this.line.passed))
    this.person.client.connect()
    // If the crash came before the session was stored, the friend list brings it again.
    const { client } = this.person
    await until('alice knows bob', async () => (await client.conversations()).length === 1)
  }

  /** Waits until everything is sent. */
  async settle(to: string): Promise<void> {
    this.line.fates.length = 0
    await Promise.all(this.#pending)
    await until('everything is sent', async () => (await this.person.client.countUnsent()) === 0, 60_000)
    this.#count()
    for (const { id, status, retracted } of await this.person.client.messages(to))
      if (status === 'sending' && !retracted) throw new Error(`${id} is not sent`)
  }

  #count(): void {
    this.refusedByRelay += this.line.refusals.filter((code) => code === 'MAILBOX_FULL').length
    this.mostUnderWay = Math.max(this.mostUnderWay, this.line.mostUnderWay)
  }
}

async function play(steps: readonly Step[]): Promise<Alice> {
  const alice = await Alice.join()
  const bob = await Person.join('bob', relay.url)
  await alice.person.befriend(bob)
  bob.client.disconnect()
  for (const one of steps) {
    switch (one.do) {
      case 'post':
        for (const kind of one.kinds) alice.post(bob.alias, kind)
        break
      case 'refuse':
        alice.line.fates.push(...one.fates)
        break
      case 'retract':
        await alice.retract(bob.alias, one.back)
        break
      case 'break':
        alice.line.cut(one.arrivesLate)
        break
      case 'crash':
        await alice.crash(one.arrivesLate)
        break
      case 'read':
        await bob.connect()
        bob.client.disconnect()
        break
      case 'kill the relay':
        await relay.kill('SIGKILL')
        await relay.start()
        break
      case 'fill the mailbox': {
        const { refusals, fates } = alice.line
        fates.length = 0
        const before = refusals.length
        for (let count = 0; count < MAILBOX_MESSAGES + 2; count += 1) alice.post(bob.alias, 'small')
        await until('the mailbox is full', () => refusals.includes('MAILBOX_FULL', before), 60_000)
        break
      }
      default:
        one satisfies never
    }
  }
  await bob.connect()
  alice.post(bob.alias, 'small')
  await alice.settle(bob.alias)
  const mine = await alice.person.client.messages(bob.alias)
  const failed = new Set(mine.filter(({ status }) => status === 'failed').map(({ id }) => id))
  const last = mine.findLast(({ status, retracted }) => status !== 'failed' && !retracted)
  await until('bob has the last message', () => bob.heard.message.some(({ id }) => id === last?.id), 60_000)
  const seen = bob.heard.message.map(({ id }) => id)
  // In the order of posting, and each once.
  expect(seen).toEqual(alice.posted.filter((id) => seen.includes(id)))
  // Nothing is lost.
  const expected = alice.posted.filter(
    (id) => alice.kept.has(id) && !failed.has(id) && !alice.retracted.has(id),
  )
  expect(expected.filter((id) => !seen.includes(id))).toEqual([])
  // What has failed was not shown.
  expect([...failed].filter((id) => seen.includes(id))).toEqual([])
  // Both sides show the same order. A message retracted before its acknowledgement may have no `seq`.
  const order = (messages: readonly StoredMessage[]): string[] =>
    messages.filter(({ seq }) => seq !== undefined).map(({ id }) => id)
  const [ours, theirs] = [order(mine), order(await bob.client.messages(alice.person.alias))]
  expect(ours.filter((id) => theirs.includes(id))).toEqual(theirs.filter((id) => ours.includes(id)))
  await alice.person.client.close()
  await bob.client.close()
  return alice
}

test('over random schedules the other side sees the messages in their order, each once, and misses none', async () => {
  let refusedByRelay = 0
  let mostUnderWay = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const alice = await play(steps)
      refusedByRelay += alice.refusedByRelay
      mostUnderWay = Math.max(mostUnderWay, alice.mostUnderWay)
    }),
    { numRuns: rounds(15, 30), endOnFailure: true },
  )
  // The schedules reached what they are for.
  expect(refusedByRelay).toBeGreaterThan(0)
  expect(mostUnderWay).toBeGreaterThan(10)
})
