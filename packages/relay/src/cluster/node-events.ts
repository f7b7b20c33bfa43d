// What one node tells the others, as text.
import type { ConversationId } from '@sotto/protocol'
import type { AccountId } from '../storage/storage.ts'
import type { Ring } from './bus.ts'

/** Something that happened on one node and that all nodes are told. */
export type NodeEvent =
  | { readonly kind: 'ring'; readonly account: AccountId; readonly ring: Ring }
  | { readonly kind: 'post'; readonly topic: string; readonly frame: string }
  | { readonly kind: 'keys' }

/** A ring of this kind has pairs in place of its map, because JSON has no maps. */
type ListRing = Extract<Ring, { conversations: unknown }>
type WrittenListRing = Omit<ListRing, 'conversations'> & {
  readonly conversations: readonly (readonly [ConversationId, number])[]
}
type WrittenRing = Exclude<Ring, ListRing> | WrittenListRing

type WrittenEvent =
  | Exclude<NodeEvent, { kind: 'ring' }>
  | { readonly kind: 'ring'; readonly account: AccountId; readonly ring: WrittenRing }

/** Writes an event as one line of JSON. */
export function writeEvent(event: NodeEvent): string {
  const written: WrittenEvent = event.kind === 'ring' ? { ...event, ring: writtenRing(event.ring) } : event
  return JSON.stringify(written)
}

/**
 * Reads what {@link writeEvent} wrote. Only nodes of the relay write to the bus, so the shape is not checked.
 */
export function readEvent(text: string): NodeEvent {
  const written: WrittenEvent = JSON.parse(text)
  if (written.kind !== 'ring') return written
  const { ring, ...rest } = written
  if (!('conversations' in ring)) return { ...rest, ring }
  return { ...rest, ring: { ...ring, conversations: new Map(ring.conversations) } }
}

/**
 * The same event without the frames that the store has. Who gets it reads the store. Undefined if the event
 * has nothing that can be left out.
 */
export function withoutStoredFrames(event: NodeEvent): NodeEvent | undefined {
  if (event.kind !== 'ring' || event.ring.kind !== 'mailbox' || event.ring.frames.length === 0)
    return undefined
  // No connection has reached the position before 0, so none takes this ring for its next frames.
  return { ...event, ring: { ...event.ring, firstPosition: 0, frames: [], bytes: 0 } }
}

function writtenRing(ring: Ring): WrittenRing {
  if (!('conversations' in ring)) return ring
  return { ...ring, conversations: [...ring.conversations] }
}
