// What a suspended account had sent: later messages of the conversation never overtake it, also if the
// connection is not told that the suspension has ended. A client's `delivered` is cumulative, so it would
// erase what was overtaken.
import { expect, test } from 'bun:test'
import { ConversationId, check } from '@sotto/protocol'
import * as fc from 'fast-check'
import { rounds } from '../../../protocol/test/rounds.ts'
import { type DeliveryWorld, isMessage, numberOf, openDelivery } from '../../test/delivery-world.ts'

const WAIT_MS = 30_000
/** The other account of the first one is suspended now and then. It may be unlisted at first. */
const conversations = [0, 1].map(() => check(ConversationId, crypto.randomUUID()))
const [suspendable = check(ConversationId, ''), other = suspendable] = conversations

const event = fc.oneof(
  fc.record({
    kind: fc.constant('store'),
    conv: fc.constantFrom(suspendable, suspendable, other),
    count: fc.integer({ min: 1, max: 12 }),
    rings: fc.constantFrom('at once', 'late', 'never'),
  }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('suspend', 'suspend', 'lift', 'lift', 'lift and ring', 'late lift'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('look', 'list', 'late ring', 'confirm', 'sync', 'pass') }),
  },
)
/** An event, and how far the delivery gets before the next one. */
const steps = fc
  .tuple(event, fc.nat(4), fc.constantFrom('drain', 'settle', undefined, undefined))
  .map(([each, answers, last]): Step[] => [
    each,
    ...Array.from({ length: answers }, () => ({ kind: 'answer' })),
    ...(last === undefined ? [] : [{ kind: last }]),
  ])
type Step = { kind: string; conv?: ConversationId; count?: number; rings?: string }

/**
 * Whether the client knows the conversation; it is `unlisted`, and the client can read it all the same; or it
 * `drops` what comes before the friend list has named the conversation, as older clients do.
 */
type Client = 'knows' | 'unlisted' | 'drops'

class Play {
  readonly world: DeliveryWorld = openDelivery(WAIT_MS / 1000)
  readonly #received = new Set<number>()
  #checked = 0
  #restarts = 0
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
    if (client !== 'knows') this.world.unlisted.set(suspendable, this.world.now())
  }

  async carryOut({ kind, conv, count = 0, rings }: Step): Promise<void> {
    const { world } = this
    const { delivery, suspended, lateRings } = world
    this.check() // What was sent since the last check came before this.
    if (kind === 'store') {
      const ring = world.store(count, conv)
      if (rings === 'at once') delivery.onMailboxRing(ring)
      if (rings === 'late') lateRings.push(ring)
    } else if (kind === 'late ring') {
      const ring = lateRings.shift()
      if (ring) delivery.onMailboxRing(ring)
    } else if (kind === 'suspend') suspended.add(suspendable)
    else if (kind === 'lift') suspended.delete(suspendable)
    else if (kind === 'lift and ring') {
      suspended.delete(suspendable)
      delivery.released(suspendable)
    } else if (kind === 'late lift') delivery.released(suspendable)
    else if (kind === 'look') {
      for (const { convId } of [...delivery.withheld]) if (!suspended.has(convId)) delivery.released(convId)
    } else if (kind === 'list') this.#list()
    else if (kind === 'confirm') this.#confirm()
    else if (kind === 'sync') {
      this.#restarts += 1
      delivery.sync({})
    } else if (kind === 'pass') world.pass(WAIT_MS)
    else if (kind === 'drain') world.drain()
    else if (kind === 'answer') await world.answer()
    else await world.settle()
    this.check()
  }

  /** No message overtook an earlier one of its conversation. */
  check(): void {
    for (const frame of this.world.sent.slice(this.#checked)) {
      this.#checked += 1
      if (!isMessage(frame)) continue
      const position = numberOf(frame)
      const row = this.world.rows.find((each) => each.position === position)
      // What is read and erased before it is sent still goes.
      if (row && !row.isRetraction) expect(this.#unreceived(row.convId, position)).toEqual([])
      this.#received.add(position)
    }
  }

  checkAllSent(): void {
    for (const conv of conversations) expect(this.#unreceived(conv, Number.POSITIVE_INFINITY)).toEqual([])
    expect(this.world.closes).toEqual([])
  }

  /** Each message was sent once, and once more for each later sync. */
  checkOnce(): void {
    const messages = this.world.rows.filter(({ isRetraction }) => !isRetraction)
    for (const { frame } of messages) {
      const times = this.world.sent.filter((each) => each === frame).length
      expect(times).toBeLessThanOrEqual(Math.max(1, this.#restarts))
    }
  }

  #unreceived(conv: ConversationId, before: number): number[] {
    const rows = this.world.rows.filter((row) => row.convId === conv && !row.isRetraction)
    const positions = rows.map(({ position }) => position)
    return positions.filter((position) => position < before && !this.#received.has(position))
  }

  #list(): void {
    const since = this.world.unlisted.get(suspendable)
    this.world.unlisted.delete(suspendable)
    if (since === undefined) return
    if (this.#client === 'drops')
      for (const { position, convId } of this.world.rows)
        if (convId === suspendable) this.#received.delete(position)
    this.world.delivery.listed(new Map([[suspendable, since]]))
  }

  // A client confirms the last message that it received, and the store deletes all up to it.
  #confirm(): void {
    if (this.#client === 'drops' && this.world.unlisted.has(suspendable)) return
    const rows = this.world.rows.filter(({ convId }) => convId === suspendable)
    const last = rows.findLast(({ position, isRetraction }) => !isRetraction && this.#received.has(position))
    if (!last) return
    for (const { position } of rows) if (position <= last.position) this.world.erase(position)
    this.world.unlisted.delete(suspendable)
    this.world.delivery.confirmed(suspendable)
  }
}

async function play(client: Client, backlog: number, steps: readonly Step[]): Promise<Play> {
  const played = new Play(client)
  for (let n = 0; n < backlog; n++)
    await played.carryOut({ kind: 'store', conv: n % 3 === 0 ? other : suspendable, count: 1 })
  played.world.delivery.open()
  for (const each of steps) await played.carryOut(each)
  return played
}

const anyBacklog = fc.nat(30)
const anySteps = fc.array(steps, { maxLength: 14 }).map((each) => each.flat())

test('no message overtakes those that were withheld, and after the suspension all arrive once', async () => {
  await fc.assert(
    fc.asyncProperty(anyBacklog, anySteps, fc.boolean(), async (backlog, steps, findsByLook) => {
      const played = await play('knows', backlog, steps)
      await played.carryOut({ kind: 'lift' })
      if (findsByLook) await played.carryOut({ kind: 'look' })
      await played.carryOut({ kind: 'store', conv: suspendable, count: 2, rings: 'at once' })
      await played.carryOut({ kind: 'settle' })
      played.checkAllSent()
      played.checkOnce()
      played.world.delivery.close()
    }),
    { numRuns: rounds(400, 5000) },
  )
})

test('so it is too if the conversation waits for the friend list', async () => {
  await fc.assert(
    fc.asyncProperty(anyBacklog, anySteps, fc.boolean(), async (backlog, steps, drops) => {
      const played = await play(drops ? 'drops' : 'unlisted', backlog, steps)
      await played.carryOut({ kind: 'lift' })
      await played.carryOut({ kind: 'store', conv: suspendable, count: 2, rings: 'at once' })
      await played.carryOut({ kind: 'list' })
      await played.carryOut({ kind: 'pass' })
      await played.carryOut({ kind: 'settle' })
      played.checkAllSent()
      played.world.delivery.close()
    }),
    { numRuns: rounds(400, 5000) },
  )
})

test('the end of a suspension that no ring announced is found without another message', async () => {
  const played = await play('knows', 12, [{ kind: 'suspend' }, { kind: 'settle' }])
  const sentOf = (): number[] => played.world.sent.filter(isMessage).map(numberOf)
  // The others, and retractions, which only take back.
  expect(sentOf()).toEqual([1, 4, 5, 7, 10])
  await played.carryOut({ kind: 'look' })
  await played.carryOut({ kind: 'settle' })
  expect(sentOf()).toHaveLength(5)
  await played.carryOut({ kind: 'lift' })
  await played.carryOut({ kind: 'look' })
  await played.carryOut({ kind: 'settle' })
  played.checkAllSent()
})

test('messages of others are sent at once, also while some are withheld', async () => {
  const { world } = await play('knows', 3, [{ kind: 'suspend' }, { kind: 'settle' }])
  world.delivery.onMailboxRing(world.store(1, other))
  expect(world.sent.at(-1)).toBe('m4') // No query was answered.
})
