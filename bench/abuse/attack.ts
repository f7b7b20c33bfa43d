// The interface of an attack: what it needs on the relay, and what it then does as fast as the relay allows.
import type { WireAccount } from '@sotto/relay/testing/wire'
import type { Attacker } from './attacker.ts'
import type { Scene } from './scene.ts'

/** Who takes part, while the relay has no rates yet. */
export interface Cast {
  readonly strangers: readonly WireAccount[]
  /** The bystanders who receive. */
  readonly bystanders: readonly WireAccount[]
}

/** One attack of one stranger. */
export interface Attack {
  readonly name: string
  /** The settings of the relay that are not the defaults. */
  readonly settings?: Readonly<Record<string, string>>
  /** How many descriptors the relay's process may have open, if not as many as this one. */
  readonly descriptors?: number
  /** The size of the relay's disk in MiB, if it has one of its own. */
  readonly diskMib?: number
  /** How many accounts it has; by default one. */
  readonly strangers?: number
  /** Makes what the attack needs, through a relay without rates. @returns `things` of the scene */
  prepare?(cast: Cast): Promise<string[]>
  /** Writes to the store of the stopped relay what would take too long to make through it. */
  fill?(scene: Scene): void
  /** Makes the last preparations, once the relay has its rates and before anything is measured. */
  arm?(attacker: Attacker): Promise<void>
  /** Attacks for the seconds of the scene. */
  run(attacker: Attacker): Promise<void>
}
