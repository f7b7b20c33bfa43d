// The event `changes`: what a view has to read again after something was stored.
import { conversationOf, type StoreChange } from '../stores/stores.ts'
import type { Change } from './client-events.ts'

/** What views show, by the beginning of the change's name. Other changes are of no view. */
const KINDS: readonly (readonly [begins: RegExp, kind: Change['kind']])[] = [
  [/^message/, 'messages'],
  [/^(session|trust|read|settings)/, 'conversation'],
  [/^friends/, 'friends'],
  [/^call/, 'calls'],
]

/** What changed by these writes, each thing once. */
export function changesBy(stored: readonly StoreChange[]): Change[] {
  const changes = new Map<string, Change>()
  for (const change of stored) {
    const kind = KINDS.find(([begins]) => begins.test(change.change))?.[1]
    if (!kind) continue
    const conversationId = conversationOf(change)
    changes.set(`${kind} ${conversationId}`, { kind, ...(conversationId && { conversationId }) })
  }
  return [...changes.values()]
}
