// Checks one type of frame against every kind of caller: the answer, what reaches others, and what changes.
import { expect } from 'bun:test'
import type { ClientFrameType, ErrorCode } from '@sotto/protocol'
import type { WireSocket } from '../wire.ts'
import { type Caller, RELATIONS, type Relation } from './callers.ts'
import { expectChangesOnlyIn, expectNoChange, expectOwnersChange } from './expect-changes.ts'
import type { Things, World } from './world.ts'

type Json = Readonly<Record<string, unknown>>

/** A frame that is carried out. */
export interface CarriedOut {
  /** The types of the frames that answer its sender. */
  readonly answers?: readonly string[]
  /** The types of the frames that reach the owner, or, if the owner sent it, its friend. */
  readonly reaches?: readonly string[]
  /** The tables in which rows of the owner change; by default nothing changes. */
  readonly changes?: readonly string[]
}

/** What a frame gets: an `error` frame with this code, and nothing else happens; or it is carried out. */
export type FrameOutcome = ErrorCode | CarriedOut

/** One frame with things of the owner, sent by every kind of caller. */
export interface FrameCase {
  readonly about: string
  /** Prepares what this case needs, before each frame. */
  readonly prepare?: (given: { sockets: Sockets; caller: Caller; world: World }) => Promise<Partial<Things>>
  /** The frame without its type. */
  readonly frame: (given: { things: Things; caller: Caller }) => Json
  readonly gets: { readonly others: FrameOutcome } & Partial<Readonly<Record<Relation, FrameOutcome>>>
}

/** The row of a type of frame. */
export type FrameRow = readonly [FrameCase, ...FrameCase[]]

/** The open connections: one of each relation, and one of the owner's friend. */
export type Sockets = Readonly<Record<Relation | 'confidant', WireSocket>>

/** Connects all accounts of a world. */
export async function connect(world: World): Promise<Sockets> {
  const accounts = RELATIONS.map((relation) => [relation, world.callers[relation].account] as const)
  const opened = await Promise.all(
    [...accounts, ['confidant', world.friend] as const].map(async ([name, account]) => {
      const { socket } = await account.online({ crypto_v: 3 })
      return [name, socket]
    }),
  )
  return Object.fromEntries(opened)
}

/** Checks a type of frame against its row. */
export async function checkFrame(
  { world, sockets }: { world: World; sockets: Sockets },
  type: ClientFrameType,
  row: FrameRow,
): Promise<void> {
  for (const each of row) {
    for (const relation of RELATIONS) {
      const outcome = each.gets[relation] ?? each.gets.others
      try {
        await checkOne({ world, sockets }, { type, relation, outcome, case: each })
      } catch (error) {
        const label = `${type}, ${each.about}, by the ${relation}`
        throw new Error(`${label}: ${error instanceof Error ? error.message : error}`, { cause: error })
      }
    }
  }
}

async function checkOne(
  { world, sockets }: { world: World; sockets: Sockets },
  tried: { type: ClientFrameType; relation: Relation; outcome: FrameOutcome; case: FrameCase },
): Promise<void> {
  const { type, relation, outcome } = tried
  const caller = world.callers[relation]
  const socket = sockets[relation]
  const things = { ...world.things, ...(await tried.case.prepare?.({ sockets, caller, world })) }
  for (const each of Object.values(sockets)) await each.untilPong()
  const before = await world.contents()
  const frame = { type, ...tried.case.frame({ things, caller }) }
  socket.send(frame)
  if (typeof outcome === 'string') {
    expect(await socket.next()).toEqual({
      ...{ type: 'error', error: outcome, message: expect.any(String) },
      ...namesOf(frame),
    })
    expectNoChange({ before, after: await world.contents() })
  } else {
    const receiver = relation === 'owner' ? sockets.confidant : sockets.owner
    expectNoSecrets(await taken(socket, outcome.answers ?? []), { world, things, caller })
    for (const type of outcome.reaches ?? []) {
      const reached = await receiver.next()
      expect(reached.type).toBe(type)
      if (type === 'retract') await confirm(reached, { receiver, sender: socket })
    }
    const after = await world.contents()
    const [owner, other] = [world.owner.uuid, relation === 'owner' ? world.friend : caller.account]
    if (outcome.changes === undefined) expectNoChange({ before, after })
    else {
      expectOwnersChange({ before, after, owner })
      expectChangesOnlyIn(outcome.changes, { before, after, owner, caller: other.uuid })
    }
  }
  // Nothing else reaches anybody.
  for (const each of new Set([socket, sockets.owner, sockets.confidant]))
    expect(await each.untilPong()).toEqual([])
}

// The frames up to the last of these types, which must arrive in this order.
async function taken(socket: WireSocket, types: readonly string[]): Promise<Json[]> {
  const frames: Json[] = []
  for (const type of types) {
    do frames.push(await socket.next())
    while (type === 'sync_end' && frames.at(-1)?.type !== type)
    expect(frames.at(-1)?.type).toBe(type)
  }
  return frames
}

function expectNoSecrets(
  frames: readonly Json[],
  { world, things, caller }: { world: World; things: Things; caller: Caller },
): void {
  if (caller.relation === 'owner') return
  const text = JSON.stringify(frames)
  const { messageId: _sentByCaller, ...secrets } = world.secretsOf(things, caller.relation === 'stranger')
  expect(Object.keys(secrets).filter((name) => text.includes(secrets[name] ?? ''))).toEqual([])
}

/** The names that an `error` frame repeats of its frame. */
function namesOf(frame: Json): Json {
  const names = ['id', 'conv_id', 'call_id'].filter((name) => name in frame)
  return Object.fromEntries(names.map((name) => [name, frame[name]]))
}

// A retraction that is not confirmed is removed later, when the relay has seen that it arrived.
async function confirm(
  { conv_id, seq, from }: Json,
  { receiver, sender }: { receiver: WireSocket; sender: WireSocket },
): Promise<void> {
  receiver.send({ type: 'delivered', conv_id, seq, to: from })
  await sender.next('delivered')
}
