// The event `changes`: what a view has to read again after something was stored.
import type { StoreChange } from '../stores/stores.ts'
import type { Change } from './client-events.ts'

const KINDS: { readonly [C in StoreChange['change']]?: Change['kind'] } = {
  message: 'messages',
  message_patch: 'messages',
  message_removed: 'messages',
  messages_removed: 'messages',
  session: 'conversation',
  session_removed: 'conversation',
  trust: 'conversation',
  read_mark: 'conversation',
  settings: 'conversation',
  friends: 'friends',
  call_logged: 'calls',
  call_removed: 'calls',
}

/** What changed by these writes, each thing once. */
export function changesBy(stored: readonly StoreChange[]): Change[] {
  const changes = new Map<string, Change>()
  for (const change of stored) {
    const kind = KINDS[change.change]
    if (!kind) continue
    const conversationId = conversationOf(change)
    const key = `${kind} ${conversationId}`
    changes.set(key, conversationId === undefined ? { kind } : { kind, conversationId })
  }
  return [...changes.values()]
}

function conversationOf(change: StoreChange): string | undefined {
  if ('conversationId' in change) return change.conversationId
  if ('message' in change) return change.message.conversationId
  if ('session' in change) return change.session.conversationId
  if ('mark' in change) return change.mark.conversationId
  if ('settings' in change) return change.settings.conversationId
  return 'call' in change ? change.call.conversationId : undefined
}
