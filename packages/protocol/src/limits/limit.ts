// What the table of limits says about each limit.

/** A size, a count or a lifetime. The unit is in its name. */
export interface Limit {
  readonly default: number
  /** The smallest and the largest value that the setting accepts. */
  readonly min: number
  readonly max: number
  /** The environment variable that changes it. */
  readonly setting: string
  readonly means: string
}

export const KIB = 1024
export const MIB = 1024 * KIB
