// Marks to one connection, with a client that takes each mark for all of its messages: it never shows a
// status that is not true, and in the end it shows all that the rules allow. Rings may come late, queries and
// timers end at any moment.
import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import type { ChangedReceipts } from '../cluster/bus.ts'
import type { After } from '../operations/after.ts'
import type { AccountId } from '../storage/storage.ts'
import { ReceiptDelivery } from './receipt-delivery.ts'
import { coverMore, receiptMarks } from './stored-frames.ts'
import { Unconfirmed } from './unconfirmed.ts'
import { afterReading, withoutSeqs, withSeq } from './unread-seqs.ts'

const RUNS = 500
const CONVERSATIONS = [1, 2]
const account = 1 as AccountId

type Status = 'sent' | 'delivered' | 'read'

/** A conversation in the store, and what its sender's client shows. */
interface Lane {
  readonly conversation: number
  lastSeq: number
  deliveredSeq: number
  readSeq: number
  unreadSeqs: string
  toldRound: number
  /** The sender's messages. */
  readonly valid: Set<number>
  readonly shown: Map<number, Status>
  /** When the last repeats began and ended, while marks have to wait for their end. */
  repeats: { readonly firstMs: number; readonly lastMs: number } | undefined
}

interface Timer {
  readonly dueAt: number
  readonly run: () => void
}

function open() {
  const lanes = CONVERSATIONS.map(
    (conversation): Lane => ({
      ...{ conversation, lastSeq: 0, deliveredSeq: 0, readSeq: 0, unreadSeqs: '', toldRound: 0 },
      valid: new Set(),
      shown: new Map(),
      repeats: undefined,
    }),
  )
  const laneOf = (conversation: number): Lane => {
    const lane = lanes[conversation - 1]
    if (!lane) throw new Error('no such conversation')
    return lane
  }
  const timers = new Set<Timer>()
  const queries: (() => void)[] = []
  const rings: ChangedReceipts[] = []
  const marks: { conversation: number; type: string; seq: number }[] = []
  let nowMs = 0
  let isBySeq = false
  let hadSync = false

  const after: After = (ms, run) => {
    const timer = { dueAt: nowMs + ms, run }
    timers.add(timer)
    return () => timers.delete(timer)
  }
  const marksOf = (lane: Lane, from = { deliveredSeq: 0, readSeq: 0 }) =>
    receiptMarks({
      ...lane,
      ...{ conv_id: String(lane.conversation) as never, to: 'to' as never, from: 'from' as never },
      after: from,
    })

  const waits = ({ repeats }: Lane): boolean =>
    repeats !== undefined && nowMs < repeats.lastMs + 500 && nowMs < repeats.firstMs + 2000

  /** What the client does with a mark: older ones ignore its `seq`. */
  const show = (text: string): void => {
    const { type, conv_id, seq } = JSON.parse(text)
    const lane = laneOf(Number(conv_id))
    marks.push({ conversation: lane.conversation, type, seq })
    expect(hadSync || nowMs >= 1000).toBe(true)
    if (!isBySeq) expect(waits(lane)).toBe(false)
    for (const [own, status] of lane.shown) {
      if (isBySeq && own > seq) continue
      const isTrue = own <= (type === 'read' ? lane.readSeq : lane.deliveredSeq)
      if (lane.valid.has(own)) expect(isTrue).toBe(true)
      if (status !== 'read') lane.shown.set(own, type)
    }
  }
  const delivery = new ReceiptDelivery({
    connection: { account, send: show },
    reader: {
      readReceipts: async (_account, only) => {
        const found = lanes
          .filter(({ conversation }) => only === undefined || conversation === only)
          .map((lane) => ({
            ...{ conversation: lane.conversation, toldRound: lane.toldRound, lastSeq: lane.lastSeq },
            marks: marksOf(lane),
          }))
        await new Promise<void>((resolve) => queries.push(resolve))
        return found
      },
    },
    unconfirmed: new Unconfirmed(),
    after,
    onFailure: (error) => {
      throw error
    },
  })

  const change = (lane: Lane, work: () => void): void => {
    const before = { ...lane }
    work()
    const { conversation, toldRound, lastSeq } = lane
    const hasNewlyCovering = coverMore(lane, before)
    const advanced = marksOf(lane, before)
    if (advanced.length > 0 || hasNewlyCovering)
      rings.push({ conversation, toldRound, lastSeq, marks: advanced, hasNewlyCovering })
  }
  return {
    lanes,
    marks,
    delivery,
    send: (conversation: number, isEarlier = false): void => {
      const lane = laneOf(conversation)
      lane.lastSeq += 1
      lane.unreadSeqs = withSeq(lane.unreadSeqs, lane.lastSeq)
      lane.valid.add(lane.lastSeq)
      // The ack of an earlier message left on a connection before this one.
      if (!isEarlier) delivery.acknowledged({ conversation, seq: lane.lastSeq, isRepeat: false })
      lane.shown.set(lane.lastSeq, 'sent')
    },
    repeat: (conversation: number, at: number): void => {
      const lane = laneOf(conversation)
      const seq = [...lane.shown.keys()][at % Math.max(1, lane.shown.size)]
      if (seq === undefined) return
      lane.toldRound += 1
      const firstMs = waits(lane) ? (lane.repeats?.firstMs ?? nowMs) : nowMs
      lane.repeats = { firstMs, lastMs: nowMs }
      delivery.acknowledged({ conversation, seq, isRepeat: true })
      lane.shown.set(seq, 'sent')
    },
    confirm: (conversation: number, type: 'delivered' | 'read', at: number): void => {
      const lane = laneOf(conversation)
      const seq = Math.min(lane.lastSeq, at)
      change(lane, () => {
        lane.deliveredSeq = Math.max(lane.deliveredSeq, seq)
        if (type === 'read') lane.readSeq = Math.max(lane.readSeq, seq)
        lane.unreadSeqs = afterReading(lane.unreadSeqs, lane.readSeq)
      })
    },
    retract: (conversation: number, at: number): void => {
      const lane = laneOf(conversation)
      const seq = [...lane.valid].at(-1 - (at % 3))
      if (seq === undefined) return
      change(lane, () => {
        lane.lastSeq += 1
        lane.valid.delete(seq)
        lane.unreadSeqs = withoutSeqs(lane.unreadSeqs, [seq])
      })
    },
    sync: (receipts: 'by_seq' | undefined): void => {
      isBySeq = receipts === 'by_seq'
      hadSync = true
      delivery.clientIs(receipts ?? 'older')
      void delivery.sendUntold({ repeats: true })
    },
    ring: (): void => {
      const ring = rings.shift()
      if (ring) delivery.changed(ring)
    },
    answer: async (): Promise<void> => {
      queries.shift()?.()
      await new Promise((resolve) => setImmediate(resolve))
    },
    pass: (ms: number): void => {
      const until = nowMs + ms
      for (;;) {
        const next = [...timers].toSorted((a, b) => a.dueAt - b.dueAt)[0]
        if (!next || next.dueAt > until) break
        nowMs = next.dueAt
        timers.delete(next)
        next.run()
      }
      nowMs = until
    },
    countWaiting: () => ({ timers: timers.size, queries: queries.length, rings: rings.length }),
  }
}

type World = ReturnType<typeof open>

async function settle(world: World): Promise<void> {
  for (let idle = 0; idle < 3; ) {
    world.ring()
    world.pass(2000)
    await world.answer()
    const { timers, queries, rings } = world.countWaiting()
    idle = timers + queries + rings > 0 ? 0 : idle + 1
  }
}

const anyStep = fc.record({
  do: fc.constantFrom(
    'send',
    'send',
    'repeat',
    'delivered',
    'read',
    'retract',
    'ring',
    'ring',
    'answer',
    'pass',
  ),
  conversation: fc.constantFrom(...CONVERSATIONS),
  at: fc.integer({ min: 1, max: 12 }),
})
type Step = { do: string; conversation: number; at: number }

async function play(world: World, steps: readonly Step[]): Promise<void> {
  for (const { do: what, conversation, at } of steps) {
    if (what === 'send') world.send(conversation)
    else if (what === 'repeat') world.repeat(conversation, at)
    else if (what === 'retract') world.retract(conversation, at)
    else if (what === 'ring') world.ring()
    else if (what === 'answer') await world.answer()
    else if (what === 'pass') world.pass(at * 100)
    else world.confirm(conversation, what === 'read' ? 'read' : 'delivered', at)
  }
}

const anySteps = fc.array(anyStep, { maxLength: 60 })

test('an older client never shows an untrue status, and in the end all that marks for all messages can say', async () => {
  await fc.assert(
    fc.asyncProperty(anySteps, anySteps, fc.boolean(), async (before, steps, syncs) => {
      const world = open()
      await play(world, before)
      if (syncs) world.sync(undefined)
      await play(world, steps)
      await settle(world)
      for (const { valid, shown, deliveredSeq, readSeq } of world.lanes) {
        const last = Math.max(0, ...valid)
        for (const seq of valid) {
          if (readSeq >= last) expect(shown.get(seq)).toBe('read')
          else if (deliveredSeq >= last) expect(shown.get(seq)).not.toBe('sent')
        }
      }
    }),
    { numRuns: RUNS },
  )
})

test('marks that were judged before the last message of an earlier connection are judged again', async () => {
  const world = open()
  world.send(1, true)
  world.confirm(1, 'delivered', 1)
  world.send(1, true)
  world.sync(undefined)
  // The ring comes from another node, and late.
  await settle(world)
  expect(world.marks).toEqual([])
  world.confirm(1, 'delivered', 2)
  await settle(world)
  expect(world.marks).toEqual([{ conversation: 1, type: 'delivered', seq: 2 }])
})

test('a client that reads seq gets every mark, whatever it sends again', async () => {
  await fc.assert(
    fc.asyncProperty(anySteps, anySteps, async (before, steps) => {
      const world = open()
      await play(world, before)
      world.sync('by_seq')
      await play(world, steps)
      await settle(world)
      for (const { shown, deliveredSeq, readSeq } of world.lanes) {
        for (const [seq, status] of shown) {
          if (seq <= readSeq) expect(status).toBe('read')
          else if (seq <= deliveredSeq) expect(status).toBe('delivered')
          else expect(status).toBe('sent')
        }
      }
    }),
    { numRuns: RUNS },
  )
})

test('a client that says during the wait after a repeat that it reads seq gets the marks at once', async () => {
  const world = open()
  world.sync(undefined)
  world.send(1)
  world.repeat(1, 0)
  world.confirm(1, 'delivered', 1)
  world.ring()
  expect(world.marks).toEqual([])
  world.sync('by_seq')
  world.confirm(1, 'read', 1)
  world.ring()
  expect(world.marks).toEqual([{ conversation: 1, type: 'read', seq: 1 }])
})

test('a repeat that comes while the marks are being read makes them wait again', async () => {
  const world = open()
  world.sync(undefined)
  world.send(1)
  await settle(world)
  world.confirm(1, 'read', 1)
  world.repeat(1, 0)
  world.pass(500)
  await world.answer()
  expect(world.countWaiting().queries).toBe(1)
  world.repeat(1, 0)
  await world.answer()
  expect(world.marks).toEqual([])
  world.pass(500)
  await settle(world)
  expect(world.marks[0]).toEqual({ conversation: 1, type: 'read', seq: 1 })
})

test('after close nothing is sent, and no timer is left', async () => {
  await fc.assert(
    fc.asyncProperty(anySteps, anySteps, async (before, steps) => {
      const world = open()
      world.sync(undefined)
      await play(world, before)
      world.delivery.close()
      const { length } = world.marks
      expect(world.countWaiting().timers).toBe(0)
      await play(world, steps)
      await settle(world)
      expect(world.marks).toHaveLength(length)
    }),
  )
})

test('repeats in many conversations, ten thousand of them in one, take one timer pair and one query each', async () => {
  const world = open()
  world.sync(undefined)
  for (const conversation of CONVERSATIONS) world.send(conversation)
  for (const conversation of CONVERSATIONS) world.confirm(conversation, 'read', 1)
  await settle(world)
  world.marks.splice(0)
  for (let n = 0; n < 10_000; n++) world.repeat(1, 0)
  world.repeat(2, 0)
  expect(world.countWaiting().timers).toBe(4)
  world.pass(499)
  expect(world.marks).toEqual([])
  await settle(world)
  expect(world.marks.map(({ conversation, type }) => [conversation, type])).toEqual([
    [1, 'read'],
    [2, 'read'],
  ])
})
