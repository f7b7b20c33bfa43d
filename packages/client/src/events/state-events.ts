// Emits events when a client's identity or lock changes, for a client and for a tab that shares one.

import type { PublicIdentity } from '../stores/stores.ts'
import type { Emitter } from './emitter.ts'

/** The state whose changes are emitted. */
export interface ToldState {
  readonly identity?: PublicIdentity | undefined
  readonly isLocked: boolean
}

/** Emits events for the differences between two states. */
export function tellChanges(emitter: Emitter, before: ToldState, now: ToldState): void {
  if (now.isLocked !== before.isLocked) emitter.emit('lock_state', now.isLocked ? 'locked' : 'unlocked')
  const hasOther = JSON.stringify(now.identity) !== JSON.stringify(before.identity)
  if (hasOther) emitter.emit('identity_changed', { identity: now.identity })
  if (hasOther || now.isLocked !== before.isLocked) emitter.emit('changes', [{ kind: 'everything' }])
}
