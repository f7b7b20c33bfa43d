// What the checks of `sotto doctor` look at.
import type { Config } from '../config.ts'
import type { Clock } from '../operations/clock.ts'
import type { RandomBytes } from '../operations/random.ts'
import type { ReadStorage } from '../storage/storage.ts'
import type { Finding } from './finding.ts'

/** What the checks need besides the settings. */
export interface DoctorParts {
  readonly clock: Clock
  readonly randomBytes: RandomBytes
}

/** What a check looks at. */
export interface Patient extends DoctorParts {
  readonly config: Config
  /** Undefined if the store cannot be used. */
  readonly storage: ReadStorage | undefined
  /** What was found when the store was opened. */
  readonly opening: Finding
}
