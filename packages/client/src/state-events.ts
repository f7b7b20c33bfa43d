// What a client has at hand, told when it changes: the same of a client and of a tab that shares one.
import type { Emitter } from './events.ts'
import type { PublicIdentity } from './stores/records.ts'

/** What is told when it changes. */
export interface ToldState {
  readonly identity?: PublicIdentity | undefined
  readonly isLocked: boolean
}

/** Emits what has changed from one state to the next. */
export function tellChanges(emitter: Emitter, before: ToldState, now: ToldState): void {
  if (now.isLocked !== before.isLocked) emitter.emit('lock_state', now.isLocked ? 'locked' : 'unlocked')
  if (JSON.stringify(now.identity) !== JSON.stringify(before.identity))
    emitter.emit('identity_changed', { identity: now.identity })
}
