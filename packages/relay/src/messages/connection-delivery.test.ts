// Deliveries to one connection: every stored message is sent, once and in order, also when rings are lost or
// late, the peer is slow, or the client requests everything again.
import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import {
  type DeliveryWorld,
  isEnd,
  isMessage,
  numberOf,
  openDelivery,
  WINDOW_BYTES,
} from '../../test/delivery-world.ts'

const RUNS = 200

/**
 * The positions that were sent, split into runs of rising positions. Each reading from the start begins a
 * run.
 */
function runsOf(sent: readonly string[]): number[][] {
  const runs: number[][] = [[]]
  for (const position of sent.filter(isMessage).map(numberOf)) {
    const run = runs.at(-1) ?? []
    if (position > (run.at(-1) ?? 0)) run.push(position)
    else runs.push([position])
  }
  return runs
}

const step = fc.oneof(
  fc.record({
    kind: fc.constant('store'),
    count: fc.integer({ min: 1, max: 12 }),
    rings: fc.constantFrom('at once', 'late', 'never'),
  }),
  fc.record({
    kind: fc.constantFrom('late ring', 'sync', 'drain', 'answer', 'settle', 'notice', 'read again'),
  }),
)
type Step = { kind: string; count?: number; rings?: string }

function carryOut(world: DeliveryWorld, { kind, count = 0, rings }: Step): void {
  if (kind === 'store') {
    const ring = world.store(count)
    if (rings === 'at once') world.delivery.onMailboxRing(ring)
    if (rings === 'late') world.lateRings.push(ring)
  } else if (kind === 'late ring') {
    const ring = world.lateRings.shift()
    if (ring) world.delivery.onMailboxRing(ring)
  } else if (kind === 'sync') world.delivery.sync({ receipts: 'by_seq' })
  else if (kind === 'drain') world.drain()
  else if (kind === 'notice') world.addNotice()
  else if (kind === 'read again') world.delivery.readAgain()
}

const anyBacklog = fc.nat(30)
const anySteps = fc.array(step, { maxLength: 25 })

/** Carries out the steps. Some of them answer queries. */
async function play(world: DeliveryWorld, steps: readonly Step[]): Promise<void> {
  for (const each of steps) {
    carryOut(world, each)
    if (each.kind === 'answer') await world.answer()
    if (each.kind === 'settle') await world.settle()
  }
}

test('every stored message is sent, in order and once per reading, no matter which rings are lost', async () => {
  await fc.assert(
    fc.asyncProperty(anyBacklog, anySteps, async (backlog, steps) => {
      const world = openDelivery()
      world.store(backlog)
      world.delivery.open()
      await play(world, steps)
      world.delivery.onMailboxRing(world.store(1)) // A later ring also sends what lost rings announced.
      await world.settle()

      const syncs = steps.filter(({ kind }) => kind === 'sync').length
      const runs = runsOf(world.sent)
      // Each reading from the start begins a run. A message is sent twice only if a sync requested it twice.
      expect(runs.length).toBeLessThanOrEqual(Math.max(1, syncs))
      expect(runs.at(-1)).toEqual(world.waiting().map(numberOf))
      for (const run of runs) expect(run).toEqual(run.map((_, i) => i + 1)) // No gaps.
      expect(world.mostAhead()).toBeLessThanOrEqual(WINDOW_BYTES)
      expect(world.closes).toEqual([])
    }),
    { numRuns: RUNS },
  )
})

test('every sync is answered by one sync_end; the first sync_end is that of the backlog', async () => {
  await fc.assert(
    fc.asyncProperty(anyBacklog, anySteps, async (backlog, steps) => {
      const world = openDelivery()
      world.store(backlog)
      world.delivery.open()
      await play(world, steps)
      await world.settle()
      const ends = world.sent.filter(isEnd)
      const syncs = steps.filter(({ kind }) => kind === 'sync').length
      // A first sync that comes after the backlog was sent gets its own sync_end at once.
      expect(ends.length).toBeGreaterThanOrEqual(Math.max(1, syncs))
      expect(ends.length).toBeLessThanOrEqual(syncs + 1)
    }),
    { numRuns: RUNS },
  )
})

test('a later sync sends every stored message again', async () => {
  await fc.assert(
    fc.asyncProperty(anyBacklog, anySteps, async (backlog, steps) => {
      const world = openDelivery()
      world.store(backlog + 1)
      world.delivery.open()
      await play(world, steps)
      world.delivery.sync({ receipts: 'by_seq' })
      await world.settle()
      const before = world.sent.length
      world.delivery.sync({ receipts: 'by_seq' })
      await world.settle()
      const again = world.sent.slice(before)
      expect(again.filter(isMessage)).toEqual(world.waiting())
      expect(JSON.parse(again.at(-1) ?? '')).toEqual({ type: 'sync_end', count: again.length - 1 })
    }),
  )
})

const MOMENTS = [0, 1, 2, 3, 4, 5, 6, 7]

test('a ring is sent once, no matter when it comes during a reading', async () => {
  for (const backlog of [0, 1, 8])
    for (const beforeStore of MOMENTS)
      for (const beforeRing of MOMENTS) {
        const world = openDelivery()
        world.store(backlog)
        world.delivery.open()
        for (let i = 0; i < beforeStore; i++) await world.answer()
        const ring = world.store(1)
        for (let i = 0; i < beforeRing; i++) await world.answer()
        world.delivery.onMailboxRing(ring)
        await world.settle()
        expect(world.sent.filter(isMessage)).toEqual(world.waiting())
      }
})

test('two syncs get two answers, no matter when the second one comes', async () => {
  for (const backlog of [0, 1, 8])
    for (const moment of MOMENTS) {
      const world = openDelivery()
      world.store(backlog)
      world.delivery.open()
      world.delivery.sync({ receipts: 'by_seq' })
      for (let i = 0; i < moment; i++) await world.answer()
      world.delivery.sync({ receipts: 'by_seq' })
      await world.settle()
      expect(world.sent.filter(isEnd)).toHaveLength(2)
    }
})

test('positions whose rows were deleted do not delay later messages', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 20 })), async (erased) => {
      const world = openDelivery()
      world.store(20)
      for (const position of erased) world.erase(position)
      world.delivery.open()
      await world.settle()
      world.delivery.onMailboxRing(world.store(2))
      expect(world.sent.filter(isMessage)).toEqual(world.waiting())
    }),
  )
})

test('a message that no ring announced is found by readAgain, also during a reading', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(6), fc.nat(6), async (backlog, answersBefore) => {
      const world = openDelivery()
      world.store(backlog)
      world.delivery.open()
      for (let i = 0; i < answersBefore; i++) await world.answer()
      world.store(1)
      world.delivery.readAgain()
      await world.settle()
      expect(world.sent.filter(isMessage)).toEqual(world.waiting())
    }),
  )
})

test('after close nothing more is sent, no matter when it was closed', async () => {
  await fc.assert(
    fc.asyncProperty(anyBacklog, anySteps, async (backlog, steps) => {
      const world = openDelivery()
      world.store(backlog)
      world.addNotice()
      world.delivery.open()
      await play(world, steps)
      world.delivery.close()
      const before = world.sent.length
      world.delivery.onMailboxRing(world.store(1))
      world.delivery.readAgain()
      await world.settle()
      expect(world.sent.length).toBe(before)
    }),
  )
})

test('if the store fails, the connection is closed, so that the client reconnects and gets the rest', async () => {
  await fc.assert(
    fc.asyncProperty(anyBacklog, fc.nat(6), async (backlog, answersBefore) => {
      const world = openDelivery()
      world.store(backlog)
      world.delivery.open()
      for (let i = 0; i < answersBefore; i++) await world.answer()
      world.fail()
      world.delivery.readAgain()
      await world.settle()
      expect(world.closes).toEqual(['overload'])
    }),
  )
})

test('the last sync says how the client reads receipts; before the first one it is unknown', () => {
  const { delivery } = openDelivery()
  delivery.open()
  expect(delivery.clientKind).toBe('unknown')
  delivery.sync({})
  expect(delivery.clientKind).toBe('older')
  delivery.sync({ receipts: 'by_seq' })
  expect(delivery.clientKind).toBe('by_seq')
})

test('marks leave with the first sync, and again with each later one; the counts include them', async () => {
  const mark = { deliveredSeq: 2, readSeq: 0, coversAll: false }
  for (const backlog of [0, 1, 8])
    for (const moment of MOMENTS) {
      const world = openDelivery()
      world.store(backlog)
      world.receipts.push({ conversation: 1, toldRound: 0, lastSeq: 2, marks: [{ frame: 'r2', ...mark }] })
      world.delivery.open()
      for (let i = 0; i < moment; i++) await world.answer()
      expect(world.sent).not.toContain('r2')
      world.delivery.sync({ receipts: 'by_seq' })
      await world.settle()
      const first = world.sent.splice(0)
      expect(first.filter((frame) => frame === 'r2')).toHaveLength(1)
      expect(isEnd(first.at(-1) ?? '')).toBe(true)
      const counts = first.filter(isEnd).map((frame) => JSON.parse(frame).count)
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(backlog + 1)
      world.delivery.sync({ receipts: 'by_seq' })
      await world.settle()
      expect(world.sent.slice(-2)).toEqual(['r2', JSON.stringify({ type: 'sync_end', count: backlog + 1 })])
      // An older client does not get it, because it does not cover all of its messages.
      world.delivery.sync({})
      world.sent.splice(0)
      await world.settle()
      expect(world.sent).not.toContain('r2')
    }
})
