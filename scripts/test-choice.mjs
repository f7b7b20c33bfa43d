// Which test files `npm test` leaves to `npm test -- --all`, so that it stays within ten minutes, and which
// of them a share has: `npm test -- --share=2/3` runs a third of them, too.

/**
 * A file that took longer than this when the times were recorded is left to `--all`. A file without a
 * recorded time runs always.
 */
export const LONGEST_MS = 6000

/** The kinds of tests that only longer files have, and the file of each kind that runs always. */
export const ALWAYS = {
  'the app in Firefox': 'packages/web/test/firefox.test.ts',
  'the app in WebKitGTK': 'packages/web/test/webkit.test.ts',
  'calls in Chromium': 'packages/web/test/calls-pictures.test.ts',
  'a relay that is killed': 'packages/relay/test/crash.test.ts',
  'the fault program': 'bench/faults/faults.test.ts',
  'nodes that a seed orders': 'bench/simulation/simulation.test.ts',
  'random input': 'fuzz/fuzz.test.ts',
  'forward secrecy': 'packages/client/test/forward-secrecy.test.ts',
  'the package as applications install it': 'packages/client/test/packaging/runtimes.test.ts',
}

/**
 * What a machine with two processors does at the same time, in seconds of recorded time for each second: a
 * run of everything took so much less than the sum of the times of its files.
 */
export const AT_ONCE = 2.5

/** The files that are left out, by their paths. @param timesMs how long each file took, by its path */
export function leftOut(timesMs) {
  const always = Object.values(ALWAYS)
  return Object.keys(timesMs)
    .filter((path) => timesMs[path] > LONGEST_MS && !always.includes(path))
    .sort()
}

/**
 * The files that a share leaves out. Each longer file is in one of the shares, and all shares take about the
 * same time.
 * @param timesMs how long each file took, by its path
 * @param share which one, from 1, and of how many: as `2/3`
 * @throws RangeError if it is no such text
 */
export function leftOutOfShare(timesMs, share) {
  const [, which, count] = /^([1-9]\d?)\/([1-9]\d?)$/.exec(share) ?? []
  if (!(Number(which) <= Number(count)))
    throw new RangeError(`--share needs a share and how many there are, as --share=2/3, not ${share}`)
  // Two neighbours take about as long as each other, so that no share gets more than one file more of a kind.
  const longestFirst = leftOut(timesMs).sort((a, b) => timesMs[b] - timesMs[a])
  return longestFirst.filter((_, place) => place % Number(count) !== Number(which) - 1).sort()
}

/** The arguments with which `bun test` leaves files out. */
export function withoutFiles(paths) {
  return paths.map((path) => `--path-ignore-patterns=${path}`)
}
