// The events of a client, and the handlers and streams that receive them.
export { changesBy } from './changes.ts'
export type {
  Change,
  ClientEventHandler,
  ClientEventName,
  ClientEvents,
  LockState,
  NetworkState,
  SecrecyEvent,
  SecurityViolationEvent,
} from './client-events.ts'
export { Emitter } from './emitter.ts'
export type { EventStreamOptions } from './event-stream.ts'
export { type ToldState, tellChanges } from './state-events.ts'
