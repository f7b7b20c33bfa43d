// The first messages of a conversation wait on an older client's connection, are never lost and stay in
// order, and no other conversation waits for them. The model of each conversation is as simple as the rule.
import { expect, test } from 'bun:test'
import { ConversationId, check } from '@sotto/protocol'
import * as fc from 'fast-check'
import { type DeliveryWorld, isEnd, isMessage, numberOf, openDelivery } from '../../test/delivery-world.ts'

const WAIT_MS = 30_000
/** The first one is listed from the start. */
const conversations = [0, 1, 2].map(() => check(ConversationId, crypto.randomUUID()))
const which = fc.constantFrom(...conversations)

const step = fc.oneof(
  fc.record({
    kind: fc.constant('store'),
    conv: which,
    count: fc.integer({ min: 1, max: 12 }),
    rings: fc.constantFrom('at once', 'late', 'never'),
  }),
  fc.record({ kind: fc.constant('listed'), conv: which, rings: fc.constantFrom('at once', 'late') }),
  fc.record({ kind: fc.constantFrom('late list', 'confirm', 'renew', 'erase'), conv: which }),
  fc.record({ kind: fc.constant('pass'), ms: fc.constantFrom(1, 1000, WAIT_MS - 1, WAIT_MS, 2 * WAIT_MS) }),
  fc.record({ kind: fc.constantFrom('late ring', 'drain', 'answer', 'answer', 'settle', 'read again') }),
  fc.record({ kind: fc.constantFrom('sync', 'sync by seq', 'arrived') }),
)
type Step = { kind: string; conv?: ConversationId; count?: number; rings?: string; ms?: number }

/** What the test knows of a conversation. */
class Model {
  /** The positions of its frames, also of erased ones. */
  readonly positions = new Set<number>()
  isConfirmed = false
  /** The acceptance that a friend list has named, if its ring has not come yet. */
  listedSince: number | undefined
  lastSent = 0
  /** How often it was sent from the start again, and how often that was due. */
  restarts = 0
  restartsDue = 0
}

class Play {
  readonly world: DeliveryWorld = openDelivery(WAIT_MS / 1000)
  readonly #openedAt = this.world.now()
  readonly #models = new Map(conversations.map((conv) => [conv, new Model()]))
  #isBySeq = false
  #checked = 0
  #syncs = 0

  constructor() {
    for (const conv of conversations.slice(1)) this.world.unlisted.set(conv, this.world.now())
  }

  model(conv: ConversationId): Model {
    const model = this.#models.get(conv)
    if (!model) throw new Error('no such conversation')
    return model
  }

  /** Whether the conversation has to wait, by the rule. */
  waits(conv: ConversationId): boolean {
    const since = this.world.unlisted.get(conv)
    if (since === undefined || this.#isBySeq) return false
    return this.world.now() < Math.max(since, this.#openedAt) + WAIT_MS
  }

  async carryOut(step: Step): Promise<void> {
    const { world } = this
    const conv = step.conv ?? conversations[0]
    if (!conv) return
    if (step.kind === 'store') {
      const ring = world.store(step.count ?? 0, conv)
      for (let at = ring.firstPosition; at <= ring.lastPosition; at++) this.model(conv).positions.add(at)
      if (step.rings === 'at once') world.delivery.onMailboxRing(ring)
      if (step.rings === 'late') world.lateRings.push(ring)
    } else if (step.kind === 'late ring') {
      const ring = world.lateRings.shift()
      if (ring) world.delivery.onMailboxRing(ring)
    } else if (step.kind === 'listed') this.#list(conv, step.rings === 'late')
    else if (step.kind === 'late list') this.#ringOfList(conv)
    else if (step.kind === 'confirm') this.#confirm(conv)
    else if (step.kind === 'renew') this.#renew(conv)
    else if (step.kind === 'erase') world.erase(Math.min(...this.#stored(conv)))
    else if (step.kind === 'pass') {
      this.check()
      world.pass(step.ms ?? 0)
    } else if (step.kind === 'sync' || step.kind === 'sync by seq') this.#sync(step.kind === 'sync by seq')
    else if (step.kind === 'arrived') this.checkArrived()
    else if (step.kind === 'drain') world.drain()
    else if (step.kind === 'read again') world.delivery.readAgain()
    else if (step.kind === 'answer') await world.answer()
    else await world.settle()
    this.check()
  }

  /** Every frame that was sent was allowed to go, and is the next one of its conversation. */
  check(): void {
    const { sent } = this.world
    for (; this.#checked < sent.length; this.#checked++) {
      const frame = sent[this.#checked] ?? ''
      if (!isMessage(frame)) continue
      const position = numberOf(frame)
      const [conv, model] = [...this.#models].find(([, { positions }]) => positions.has(position)) ?? []
      if (!conv || !model) throw new Error('a frame of no conversation')
      // A frame that was read and is erased before it is sent still goes, and is of an earlier friendship.
      expect(this.waits(conv) && this.#stored(conv).includes(position)).toBe(false)
      if (position <= model.lastSent) {
        model.restarts += 1
        model.lastSent = 0
      }
      const isBefore = (other: number): boolean => other > model.lastSent && other < position
      expect(this.#stored(conv).filter(isBefore)).toEqual([])
      model.lastSent = position
    }
    for (const { restarts, restartsDue } of this.#models.values())
      expect(restarts).toBeLessThanOrEqual(restartsDue)
  }

  /** Nothing that need not wait is unsent. */
  checkSent(): void {
    for (const conv of conversations) {
      if (this.waits(conv) || this.model(conv).listedSince !== undefined) continue
      const sent = new Set(this.world.sent.filter(isMessage).map(numberOf))
      expect(this.#stored(conv).filter((position) => !sent.has(position))).toEqual([])
    }
    const ends = this.world.sent.filter(isEnd).length
    expect(ends).toBeGreaterThanOrEqual(Math.max(1, this.#syncs))
    expect(ends).toBeLessThanOrEqual(this.#syncs + 1)
    expect(this.world.closes).toEqual([])
  }

  /** The retractions that count as arrived were sent. */
  checkArrived(): void {
    const { delivery, rows, sent } = this.world
    delivery.pingIfNeeded()
    delivery.pongReceived()
    delivery.frameReceived()
    const upTo = delivery.frameReceived()?.retractionPosition ?? 0
    const arrived = rows.filter(({ isRetraction, position }) => isRetraction && position <= upTo)
    for (const { frame } of arrived) expect(sent).toContain(frame)
  }

  #stored(conv: ConversationId): number[] {
    return this.world.rows.filter((row) => row.convId === conv).map(({ position }) => position)
  }

  // The store knows of it before the ring comes.
  #list(conv: ConversationId, isLate: boolean): void {
    const since = this.world.unlisted.get(conv)
    if (since !== undefined) {
      this.world.unlisted.delete(conv)
      this.model(conv).restartsDue += 1
      this.model(conv).listedSince = since
    }
    if (!isLate) this.#ringOfList(conv)
  }

  #ringOfList(conv: ConversationId): void {
    const model = this.model(conv)
    if (model.listedSince !== undefined) this.world.delivery.listed(new Map([[conv, model.listedSince]]))
    model.listedSince = undefined
  }

  // A client confirms what it received. The store then deletes it.
  #confirm(conv: ConversationId): void {
    const model = this.model(conv)
    if (model.lastSent === 0) return
    for (const position of this.#stored(conv)) if (position <= model.lastSent) this.world.erase(position)
    this.world.unlisted.delete(conv)
    model.isConfirmed = true
    this.world.delivery.confirmed(conv)
  }

  #renew(conv: ConversationId): void {
    for (const position of this.#stored(conv)) this.world.erase(position)
    this.world.pass(1) // Two acceptances are never at the same time.
    // An account that confirmed something in the conversation knows it.
    if (!this.model(conv).isConfirmed) this.world.unlisted.set(conv, this.world.now())
  }

  #sync(isBySeq: boolean): void {
    this.#isBySeq = isBySeq
    this.#syncs += 1
    for (const model of this.#models.values()) model.restartsDue += 1
    this.world.delivery.sync(isBySeq ? { receipts: 'by_seq' } : {})
  }
}

test('the first messages wait by the rule, nothing is lost or out of order, and nothing else waits', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(30), fc.array(step, { maxLength: 30 }), async (backlog, steps) => {
      const play = new Play()
      for (let n = 0; n < backlog; n++) {
        const conv = conversations[(n * 7) % 3]
        await play.carryOut({ kind: 'store', count: 1, rings: 'never', ...(conv ? { conv } : {}) })
      }
      play.world.delivery.open()
      for (const each of steps) await play.carryOut(each)
      for (const conv of conversations)
        await play.carryOut({ kind: 'store', count: 1, rings: 'at once', conv })
      await play.carryOut({ kind: 'settle' })
      play.checkSent()
      play.checkArrived()
      await play.carryOut({ kind: 'pass', ms: 2 * WAIT_MS })
      await play.carryOut({ kind: 'settle' })
      play.checkSent()
      for (const conv of conversations) await play.carryOut({ kind: 'listed', conv })
      await play.carryOut({ kind: 'settle' })
      play.checkSent()
      play.world.delivery.close()
    }),
    { numRuns: 500 },
  )
})

test('a frame that comes after the list was stored, and before its ring, does not overtake those that wait', async () => {
  const play = new Play()
  const [, conv] = conversations
  if (!conv) return
  play.world.delivery.open()
  for (const each of [
    { kind: 'store', conv, count: 2, rings: 'at once' },
    { kind: 'settle' },
    { kind: 'listed', conv, rings: 'late' },
    { kind: 'store', conv, count: 1, rings: 'at once' },
    { kind: 'settle' },
  ])
    await play.carryOut(each)
  expect(play.world.sent.filter(isMessage)).toEqual([])
  await play.carryOut({ kind: 'late list', conv })
  await play.carryOut({ kind: 'settle' })
  expect(play.world.sent.filter(isMessage)).toEqual(['m1', 'm2', 'm3'])
})

test('what went because the time was over goes again once it is listed, and only then', async () => {
  const play = new Play()
  const [, conv] = conversations
  if (!conv) return
  play.world.delivery.open()
  for (const each of [
    { kind: 'store', conv, count: 2, rings: 'at once' },
    { kind: 'settle' },
    { kind: 'pass', ms: WAIT_MS },
    { kind: 'settle' },
    { kind: 'store', conv, count: 1, rings: 'at once' },
    { kind: 'settle' },
  ])
    await play.carryOut(each)
  expect(play.world.sent.filter(isMessage)).toEqual(['m1', 'm2', 'm3'])
  await play.carryOut({ kind: 'listed', conv })
  await play.carryOut({ kind: 'settle' })
  expect(play.world.sent.filter(isMessage)).toEqual(['m1', 'm2', 'm3', 'm1', 'm2', 'm3'])
  await play.carryOut({ kind: 'listed', conv })
  await play.carryOut({ kind: 'settle' })
  expect(play.world.sent.filter(isMessage)).toHaveLength(6)
})
