// Judges a run: the history of all clients by the checker of the fault program, and what is left in the
// store.
import { check, isComplete } from '../faults/checker.ts'
import type { ViolationKind } from '../faults/facts.ts'
import type { HistoryEvent } from '../faults/history.ts'
import type { Stage } from './people.ts'

/** A broken promise. */
export interface Broken {
  readonly kind:
    | ViolationKind
    | 'left' // in the store, though its recipient has it and said so
    | 'counts' // counts of the store that differ from the rows that they count
    | 'error' // a part of a node failed, though nothing had happened to it
  readonly what: string
}

export class Judge {
  readonly broken: Broken[] = []
  /** Whether the database of a node refused something, so that parts of the node may fail. */
  mayFail = false
  /** How long everything took to arrive after the last fault had ended. */
  quietMs = 0
  readonly #events: readonly HistoryEvent[]
  readonly #stage: Stage
  readonly #errors: string[] = []

  constructor(events: readonly HistoryEvent[], stage: Stage) {
    this.#events = events
    this.#stage = stage
  }

  errorLogged(line: string): void {
    this.#errors.push(line)
  }

  /** Whether nothing is under way any more. */
  isComplete(): boolean {
    return this.#leftInStore().length === 0 && isComplete(check(this.#events))
  }

  /** Judges the whole run. */
  end(): void {
    this.broken.push(...check(this.#events))
    for (const what of this.#leftInStore()) this.broken.push({ kind: 'left', what })
    for (const what of this.#wrongCounts()) this.broken.push({ kind: 'counts', what })
    if (!this.mayFail) for (const what of this.#errors) this.broken.push({ kind: 'error', what })
  }

  // If the database refuses to record that a retraction arrived, it goes once more on the next connection.
  #leftInStore(): string[] {
    const { database } = this.#stage.database
    return database
      .query<{ what: string }, []>(
        `SELECT message_id || ' with seq ' || seq || ' for account ' || recipient_id AS what
         FROM messages WHERE kind <= ${this.mayFail ? 0 : 1}`,
      )
      .all()
      .map(({ what }) => what)
  }

  #wrongCounts(): string[] {
    const { database } = this.#stage.database
    return database
      .query<{ what: string }, []>(
        `SELECT 'the mailbox of account ' || account_id AS what FROM mailboxes
         WHERE retraction_count <> (SELECT COUNT(*) FROM messages WHERE kind = 1 AND recipient_id = account_id)
           OR pending_count <> (SELECT COUNT(*) FROM messages WHERE kind = 0 AND recipient_id = account_id)
           OR pending_bytes <> (SELECT COALESCE(SUM(octet_length(payload)), 0) FROM messages
             WHERE kind = 0 AND recipient_id = account_id)
         UNION ALL
         SELECT 'conversation ' || conversation_id || ' for account ' || recipient_id FROM lanes
         WHERE retraction_count <> (SELECT COUNT(*) FROM messages WHERE kind = 1
             AND messages.conversation_id = lanes.conversation_id AND messages.recipient_id = lanes.recipient_id)
           OR pending_count <> (SELECT COUNT(*) FROM messages WHERE kind = 0
             AND messages.conversation_id = lanes.conversation_id AND messages.recipient_id = lanes.recipient_id)`,
      )
      .all()
      .map(({ what }) => what)
  }
}
