// The platform of a client: its options, clock, random values, and queue of work.
export { Backoff } from './backoff.ts'
export { type Clock, delay, systemClock } from './clock.ts'
export { type Deferred, deferred } from './deferred.ts'
export {
  type ClientOptions,
  decideOptions,
  decideSurroundings,
  type FetchLike,
  type Platform,
  type ProofOfWork,
  type ProofOfWorkSolver,
  type SocketClass,
  type SocketLike,
  type WakeSource,
} from './options.ts'
export { randomFraction, randomUuid } from './random.ts'
export { SerialQueue } from './serial-queue.ts'
