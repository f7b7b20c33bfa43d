// The interface of a part of the fuzz program.
import type { TestEngine } from '../packages/relay/test/engines.ts'
import type { Inputs } from './inputs.ts'

/** What a relay used before and after an attack. */
export interface Figures {
  /** Resident memory after a collection of garbage. */
  readonly memoryMib: readonly [before: number, after: number]
  /** Open descriptors, without those of clients that are still connected. */
  readonly descriptors: readonly [before: number, after: number]
  readonly timers: readonly [before: number, after: number]
}

/** A kind of attack. */
export interface Part {
  readonly name: string
  readonly means: string
  /** Its share of the time of a run, compared with those of the other parts. */
  readonly share: number
  /**
   * Makes inputs until their time is over.
   * @returns what the attacked relay used; undefined if there is none
   * @throws Finding, or any error, if a promise is broken
   */
  run(inputs: Inputs, engine: TestEngine): Promise<Figures | undefined>
}
