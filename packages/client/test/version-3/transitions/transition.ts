// A transition of a conversation's course, as the record of the design names it, and words to tell when a
// step takes it.
import type { SentBlock } from '../../../src/secrecy/version-3/sent-blocks.ts'
import {
  type Course,
  type CourseEvent,
  presentOf,
  type Step,
} from '../../../src/secrecy/version-3/version-3.ts'

/**
 * What happens to a device: an event; a step that failed for want of cryptography; or a start with what is
 * stored, of which `lost` blocks could not be read.
 */
export type Happening =
  | CourseEvent
  | { readonly type: 'unavailable' }
  | { readonly type: 'loaded'; readonly blocks: number; readonly lost: number }

/** One step that was taken. */
export interface Taken {
  readonly before: Course
  readonly event: Happening
  readonly after: Course
  readonly step: Pick<Step, 'outcome' | 'keep' | 'asks' | 'notices' | 'handshake'>
  readonly blocks: { readonly before: readonly SentBlock[]; readonly after: readonly SentBlock[] }
}

/** A row of the table in the record (docs/decisions/0062). A step may take several. */
export interface Transition {
  readonly situation: string
  readonly event: string
  readonly follows: string
  readonly isTaken: (taken: Taken) => boolean
}

/** The name by which a transition is counted. */
export function nameOf({ situation, event }: Transition): string {
  return `${situation} | ${event}`
}

export function row(
  situation: string,
  event: string,
  follows: string,
  isTaken: (taken: Taken) => boolean,
): Transition {
  return { situation, event, follows, isTaken }
}

export function tells({ step }: Taken, what: Step['notices'][number]['tell']): boolean {
  return step.notices.some(({ tell }) => tell === what)
}

export function asks({ step }: Taken, what: Step['asks'][number]['ask']): boolean {
  return step.asks.some(({ ask }) => ask === what)
}

export function keeps({ step }: Taken, what: Step['keep'][number]['keep']): boolean {
  return step.keep.some(({ keep }) => keep === what)
}

/** Whether the step entered another epoch, by a handshake of this side. */
export function enters({ before, after }: Taken, by: 'own' | 'peer'): boolean {
  const present = presentOf(after)
  return present !== undefined && present.by === by && present.epoch !== presentOf(before)?.epoch
}

/** The present epoch of the state; 0 without a group. */
export function epochOf(course: Course): number {
  return presentOf(course)?.epoch ?? 0
}

/** Whether the relay's record was asked for, and this is what the step decides by it. */
export function isAnswer({ before, event }: Taken): boolean {
  const { connection, pending, stop } = before
  const { asked, askedIn } = connection
  return event.type === asked && !pending && !stop && presentOf(before)?.epoch === askedIn
}
