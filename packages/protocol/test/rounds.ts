// How often tests repeat what they do at random. Tests of every package use it.

/** Whether `npm test -- --long` runs. */
const isLong = process.env.LONG_TESTS === 'yes'

/**
 * How often a test repeats something random.
 * @param usual enough to fail on the defects that the test was written for
 * @param long to look for defects that nobody knows yet, with `npm test -- --long`
 */
export function rounds(usual: number, long: number): number {
  return isLong ? long : usual
}
