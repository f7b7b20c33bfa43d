// The history of a round: everything every client sent and received, and what was done to the relay, in one order.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A frame as it stood on the wire, but for its payload: of that a digest is enough to tell whether it was changed. */
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
}

/** What a client goes to the relay for over HTTP. A `look` is one at the friend list. */
export type Errand = 'ask' | 'accept' | 'part' | 'block' | 'unblock' | 'leave' | 'look'

/** `unknown`: no answer came, or one that leaves open whether it took effect. */
export interface Ending {
  readonly outcome: 'done' | 'refused' | 'unknown'
  readonly error?: string
  readonly friendship?: number
  readonly status?: string
  readonly conv?: string
  /** The friend list, for a look. */
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
  /** Before a connection is asked for: whatever was known until then, the relay knew when it opened it. */
  | { readonly type: 'opening'; readonly client: number; readonly connection: number }
  | { readonly type: 'closed'; readonly client: number; readonly connection: number }
  /** Before it is written, so that no answer stands before its question. */
  | { readonly type: 'sent'; readonly client: number; readonly connection: number; readonly frame: Frame }
  | { readonly type: 'received'; readonly client: number; readonly connection: number; readonly frame: Frame }
  /** Before the request is made, so that its effect lies between the two. */
  | {
      readonly type: 'began'
      readonly client: number
      readonly command: number
      readonly what: Errand
      /** The other's alias; empty where there is none. */
      readonly peer: string
    }
  | ({ readonly type: 'ended'; readonly client: number; readonly command: number } & Ending)
  /** From here on the relay may erase what it gave an `at` before this, and nothing else. */
  | { readonly type: 'old'; readonly before: number }
  | { readonly type: 'nemesis'; readonly what: string; readonly detail: string }
  /** The relay did not come up again. */
  | { readonly type: 'dead'; readonly reason: string }

/** Events in the order they came about; the time is for people to read. */
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

  /** Writes it as JSON lines. @returns where */
  async save(seed: number): Promise<string> {
    const path = join(await mkdtemp(join(tmpdir(), 'sotto-faults-history-')), `seed-${seed}.jsonl`)
    const line = (event: HistoryEvent, n: number): string =>
      `${JSON.stringify({ n, ms: this.#times[n], ...event })}\n`
    await Bun.write(path, this.events.map(line).join(''))
    return path
  }
}

/** What stands in the history for a payload. */
export function digestOf(payload: string): string {
  return `${payload.length}:${Bun.hash(payload).toString(36)}`
}

/** A frame as the history keeps it. */
export function recordable(frame: Frame): Frame {
  return frame.payload === undefined ? frame : { ...frame, payload: digestOf(frame.payload) }
}
