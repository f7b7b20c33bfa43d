// Lists the changes that recreate a state. A separate file, because only stores that write files need it;
// pages do not.
import type { DeviceState } from './device-state.ts'
import type { StoreChange } from './records.ts'

/** The changes that turn an empty state into this one. */
export function* changesOf(state: DeviceState): Generator<StoreChange> {
  if (state.vault) yield { change: 'vault', vault: state.vault }
  if (state.identity) yield { change: 'identity', identity: state.identity }
  if (state.friends.length > 0) yield { change: 'friends', friends: [...state.friends] }
  for (const session of state.sessions.values()) yield { change: 'session', session }
  for (const [conversationId, trust] of state.trust) {
    const session = state.sessions.get(conversationId)
    if (session) yield { change: 'trust', conversationId: session.conversationId, trust }
  }
  for (const message of state.messages()) yield { change: 'message', message }
  for (const intent of state.outbox.values()) yield { change: 'outbox_added', intent }
  for (const intent of state.retractIntents.values()) yield { change: 'retract_added', intent }
  for (const message of state.offline.values()) yield { change: 'offline_added', message }
  for (const mark of state.readMarks.values()) yield { change: 'read_mark', mark }
  for (const settings of state.settings.values()) yield { change: 'settings', settings }
  for (const record of state.appData.values()) yield { change: 'app_data', record }
  for (const [name, value] of state.secrets) yield { change: 'secret', name, value }
  for (const call of state.calls.values()) yield { change: 'call_logged', call }
}
