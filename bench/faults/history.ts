// The history of a round: all frames that clients sent and received, and all faults, in one order.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A frame from the wire, with a digest instead of its payload: that is enough to detect a change. */
export interface Frame {
  readonly type: string
  readonly id?: string
  readonly to?: string
  readonly from?: string
  readonly conv_id?: string
  readonly crypto_v?: number
  readonly payload?: string
  readonly seq?: number
  readonly at?: number
  readonly count?: number
  readonly error?: string
  readonly reason?: string
  readonly friendship_id?: number
  readonly receipts?: string
}

/** A client's HTTP request. `look` reads the friend list. */
export type Errand = 'ask' | 'accept' | 'part' | 'block' | 'unblock' | 'leave' | 'look'

/** `unknown`: there was no answer, or the answer does not say whether the request took effect. */
export interface Ending {
  readonly outcome: 'done' | 'refused' | 'unknown'
  readonly error?: string
  readonly friendship?: number
  readonly status?: string
  readonly conv?: string
  /** The friend list, for a `look`. */
  readonly list?: readonly Listed[]
}

export interface Listed {
  readonly alias: string
  readonly status: string
  readonly direction: string
  readonly friendship: number
  readonly conv: string
}

/** A client of the round, by its number. */
export interface Member {
  readonly client: number
  readonly alias: string
}

export type HistoryEvent =
  | { readonly type: 'account'; readonly client: number; readonly alias: string }
  | { readonly type: 'friends'; readonly conv: string; readonly members: readonly [Member, Member] }
  /** Recorded before connecting: the relay knew all earlier events when it opened the connection. */
  | {
      readonly type: 'opening'
      readonly client: number
      readonly connection: number
      /** The node that it goes to; 0 if there is one only. */
      readonly node?: number
    }
  | { readonly type: 'closed'; readonly client: number; readonly connection: number }
  /** Recorded before writing the frame, so that no answer precedes it. */
  | { readonly type: 'sent'; readonly client: number; readonly connection: number; readonly frame: Frame }
  | { readonly type: 'received'; readonly client: number; readonly connection: number; readonly frame: Frame }
  /** Recorded before the request, so that its effect lies between the two events. */
  | {
      readonly type: 'began'
      readonly client: number
      readonly command: number
      readonly what: Errand
      /** The other account's alias; empty if there is none. */
      readonly peer: string
    }
  | ({ readonly type: 'ended'; readonly client: number; readonly command: number } & Ending)
  /** From now on, the relay may erase messages with an `at` before this, and no others. */
  | { readonly type: 'old'; readonly before: number }
  | {
      readonly type: 'nemesis'
      readonly what: string
      readonly detail: string
      /** The nodes that fail; all of them if undefined. */
      readonly nodes?: readonly number[]
    }
  /** All requests without an answer have taken effect, or never will. */
  | { readonly type: 'settled' }
  /** The relay did not start again. */
  | { readonly type: 'dead'; readonly reason: string }

/** Events in their order; the time is only for human readers. */
export class History {
  readonly events: HistoryEvent[] = []
  readonly #times: number[] = []
  readonly #startedMs = performance.now()
  #connections = 0
  #commands = 0

  add(event: HistoryEvent): void {
    this.events.push(event)
    this.#times.push(Math.round(performance.now() - this.#startedMs))
  }

  nextConnection(): number {
    this.#connections += 1
    return this.#connections
  }

  nextCommand(): number {
    this.#commands += 1
    return this.#commands
  }

  /** Writes the history as JSON lines. @returns the path */
  async save(seed: number): Promise<string> {
    const path = join(await mkdtemp(join(tmpdir(), 'sotto-faults-history-')), `seed-${seed}.jsonl`)
    const line = (event: HistoryEvent, n: number): string =>
      `${JSON.stringify({ n, ms: this.#times[n], ...event })}\n`
    await Bun.write(path, this.events.map(line).join(''))
    return path
  }
}

/** The digest that replaces a payload in the history. */
export function digestOf(payload: string): string {
  return `${payload.length}:${Bun.hash(payload).toString(36)}`
}

/** A frame in the history's form. */
export function recordable(frame: Frame): Frame {
  return frame.payload === undefined ? frame : { ...frame, payload: digestOf(frame.payload) }
}
