// What a client cannot read waits with all later messages of its conversation: nothing is sent that the
// client could confirm over it, other conversations go on, and all of it goes in order once the client reads
// it, or once what it could not read is gone.
import { expect, test } from 'bun:test'
import { ConversationId, check } from '@sotto/protocol'
import * as fc from 'fast-check'
import { rounds } from '../../../protocol/test/rounds.ts'
import { type DeliveryWorld, isEnd, isMessage, numberOf, openDelivery } from '../../test/delivery-world.ts'

const WAIT_MS = 30_000
/** The first has messages of both versions, and its other account may be suspended and unlisted. */
const conversations = [0, 1].map(() => check(ConversationId, crypto.randomUUID()))
const [mixed = check(ConversationId, ''), plain = mixed] = conversations

const event = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('store'),
      conv: fc.constantFrom(mixed, mixed, plain),
      version: fc.constantFrom(1 as const, 3 as const),
      count: fc.integer({ min: 1, max: 10 }),
      rings: fc.constantFrom('at once', 'late', 'never'),
    }),
  },
  fc.record({ kind: fc.constantFrom('sync 3', 'sync 3', 'sync 1', 'sync') }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('erase first', 'erase all', 'confirm') }) },
  fc.record({ kind: fc.constantFrom('suspend', 'lift', 'lift and ring', 'late ring', 'read again') }),
)
/** An event, and how far the delivery gets before the next one. */
const steps = fc
  .tuple(event, fc.nat(4), fc.constantFrom('drain', 'settle', 'settle', undefined))
  .map(([each, answers, last]): Step[] => [
    each,
    ...Array.from({ length: answers }, () => ({ kind: 'answer' })),
    ...(last === undefined ? [] : [{ kind: last }]),
  ])
type Step = { kind: string; conv?: ConversationId; version?: 1 | 3; count?: number; rings?: string }

class Play {
  readonly world: DeliveryWorld = openDelivery(WAIT_MS / 1000)
  readonly #received = new Set<number>()
  #readsVersion3 = false
  #checked = 0
  #syncs = 0

  constructor(isUnlisted: boolean) {
    if (isUnlisted) this.world.unlisted.set(mixed, this.world.now())
  }

  async carryOut({ kind, conv, version, count = 0, rings }: Step): Promise<void> {
    const { world } = this
    const { delivery, suspended, lateRings } = world
    this.check()
    if (kind === 'store') {
      const ring = world.store(count, conv, conv === mixed ? version : 1)
      if (rings === 'at once') delivery.onMailboxRing(ring)
      if (rings === 'late') lateRings.push(ring)
    } else if (kind === 'late ring') {
      const ring = lateRings.shift()
      if (ring) delivery.onMailboxRing(ring)
    } else if (kind === 'sync 3') this.#sync(3)
    else if (kind === 'sync 1') this.#sync(1)
    else if (kind === 'sync') this.#sync(undefined)
    else if (kind === 'erase first') world.erase(Math.min(...this.#ofVersion3()))
    else if (kind === 'erase all') for (const position of this.#ofVersion3()) world.erase(position)
    else if (kind === 'confirm') this.#confirm()
    else if (kind === 'suspend') suspended.add(mixed)
    else if (kind === 'lift') suspended.delete(mixed)
    else if (kind === 'lift and ring') {
      suspended.delete(mixed)
      delivery.released(mixed)
    } else if (kind === 'read again') delivery.readAgain()
    else if (kind === 'pass') world.pass(WAIT_MS)
    else if (kind === 'drain') world.drain()
    else if (kind === 'answer') await world.answer()
    else await world.settle()
    this.check()
  }

  /** What was sent since the last check could be read, and overtook no message of its conversation. */
  check(): void {
    for (const frame of this.world.sent.slice(this.#checked)) {
      this.#checked += 1
      if (!isMessage(frame)) continue
      const position = numberOf(frame)
      const row = this.world.rows.find((each) => each.position === position)
      // What is read and erased before it is sent still goes.
      if (row && !row.isRetraction) {
        expect(this.#unreceived(row.convId).filter((each) => each < position)).toEqual([])
        if (!this.#readsVersion3 && row.convId === mixed)
          expect(this.#ofVersion3().filter((each) => each <= position)).toEqual([])
      }
      this.#received.add(position)
    }
  }

  /** Nothing waits that the client can read. */
  checkAllSent(): void {
    const first = this.#readsVersion3 ? Number.POSITIVE_INFINITY : Math.min(...this.#ofVersion3())
    expect(this.#unreceived(mixed).filter((position) => position < first)).toEqual([])
    expect(this.#unreceived(plain)).toEqual([])
    expect(this.world.closes).toEqual([])
    const ends = this.world.sent.filter(isEnd)
    expect(ends.length).toBeGreaterThanOrEqual(Math.max(1, this.#syncs))
    expect(ends.some((end) => end.includes('incarnation'))).toBe(this.#everRead)
  }

  /** Each message was sent once, and at most once more for each later sync. */
  checkOnce(): void {
    for (const { frame, isRetraction } of this.world.rows) {
      if (isRetraction) continue
      const times = this.world.sent.filter((each) => each === frame).length
      expect(times).toBeLessThanOrEqual(Math.max(1, this.#syncs))
    }
  }

  #everRead = false

  #sync(version: number | undefined): void {
    this.#syncs += 1
    this.#readsVersion3 = version === 3
    this.world.delivery.sync({ receipts: 'by_seq', crypto_v: version })
  }

  // It confirms the last message that it received, and the store deletes up to it. It would delete more only
  // if something had been sent that should wait.
  #confirm(): void {
    const rows = this.world.rows.filter(({ convId }) => convId === mixed)
    const last = rows.findLast(({ position, isRetraction }) => !isRetraction && this.#received.has(position))
    if (!last) return
    const first = this.#readsVersion3 ? Number.POSITIVE_INFINITY : Math.min(...this.#ofVersion3())
    const upTo = Math.min(last.position, first - 1)
    for (const { position } of rows) if (position <= upTo) this.world.erase(position)
    this.world.unlisted.delete(mixed)
    this.world.delivery.confirmed(mixed)
  }

  #ofVersion3(): number[] {
    const { rows, ofVersion3 } = this.world
    return rows.map(({ position }) => position).filter((position) => ofVersion3.has(position))
  }

  #unreceived(conv: ConversationId): number[] {
    const rows = this.world.rows.filter((row) => row.convId === conv && !row.isRetraction)
    return rows.map(({ position }) => position).filter((position) => !this.#received.has(position))
  }

  /** Remembers whether a `sync_end` must have told the incarnation. */
  settled(): void {
    this.#everRead ||= this.#readsVersion3
  }
}

async function play(isUnlisted: boolean, backlog: number, told: readonly Step[]): Promise<Play> {
  const played = new Play(isUnlisted)
  for (let n = 0; n < backlog; n++)
    await played.carryOut({
      ...{ kind: 'store', count: 1, conv: n % 3 === 0 ? plain : mixed },
      version: n % 5 < 2 ? 3 : 1,
    })
  played.world.delivery.open()
  for (const each of told) await played.carryOut(each)
  return played
}

/** Ends all that can make messages wait, but not the version; a message of the conversation follows. */
async function finish(played: Play): Promise<void> {
  for (const kind of ['settle', 'lift and ring', 'pass', 'settle']) await played.carryOut({ kind })
  for (const conv of conversations)
    await played.carryOut({ kind: 'store', conv, version: 1, count: 2, rings: 'at once' })
  await played.carryOut({ kind: 'settle' })
}

const anySteps = fc.array(steps, { maxLength: 14 }).map((each) => each.flat())

test('nothing that could be confirmed goes before what the client cannot read, and all goes when it reads it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(30), anySteps, fc.boolean(), async (backlog, told, isUnlisted) => {
      const played = await play(isUnlisted, backlog, told)
      await finish(played)
      await played.carryOut({ kind: 'sync 3' })
      await played.carryOut({ kind: 'settle' })
      played.settled()
      played.checkAllSent()
      if (!isUnlisted) played.checkOnce()
      played.world.delivery.close()
    }),
    { numRuns: rounds(400, 5000) },
  )
})

test('a client that does not read it gets all before it, and all once it is gone', async () => {
  const older = anySteps.map((told) => told.filter(({ kind }) => kind !== 'sync 3'))
  await fc.assert(
    fc.asyncProperty(fc.nat(30), older, fc.boolean(), async (backlog, told, isUnlisted) => {
      const played = await play(isUnlisted, backlog, told)
      await finish(played)
      played.checkAllSent()
      await played.carryOut({ kind: 'erase all' })
      await finish(played)
      played.checkAllSent()
      played.world.delivery.close()
    }),
    { numRuns: rounds(400, 5000) },
  )
})

test('messages of other conversations are sent at once, also while one waits', async () => {
  const { world } = await play(false, 0, [
    { kind: 'settle' },
    { kind: 'sync 1' },
    { kind: 'store', conv: mixed, version: 3, count: 2, rings: 'at once' },
    { kind: 'settle' },
  ])
  expect(world.sent.filter(isMessage)).toEqual([])
  world.delivery.onMailboxRing(world.store(1, plain))
  expect(world.sent.at(-1)).toBe('m3') // No query was answered.
})

test('to a client that reads it, it goes at once', async () => {
  const { world } = await play(false, 0, [{ kind: 'settle' }, { kind: 'sync 3' }, { kind: 'settle' }])
  world.delivery.onMailboxRing(world.store(2, mixed, 3))
  expect(world.sent.filter(isMessage)).toEqual(['m1', 'm2'])
  expect(world.sent.find(isEnd)).toBe('{"type":"sync_end","count":0}')
  expect(world.sent.filter(isEnd).at(-1)).toBe('{"type":"sync_end","count":0,"incarnation":"one"}')
})

test('what a ring of an older node brings is read from the store first, because the ring does not name versions', async () => {
  const { world } = await play(false, 0, [{ kind: 'settle' }, { kind: 'sync 1' }, { kind: 'settle' }])
  const { hasVersion3: _, ...ring } = world.store(2, mixed, 3)
  world.delivery.onMailboxRing(ring)
  await world.settle()
  expect(world.sent.filter(isMessage)).toEqual([])
})
