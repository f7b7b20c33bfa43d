// Finds the name that somebody probably meant.

/** The name with the smallest number of changed, missing and additional characters; the first of several. */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  let nearest: { name: string; distance: number } | undefined
  for (const name of names) {
    const distance = distanceOf(given, name)
    if (!nearest || distance < nearest.distance) nearest = { name, distance }
  }
  return nearest?.name
}

// Levenshtein's distance, row by row: `row[i]` is the distance of the first i characters of `a` from the
// part of `b` read so far.
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: a.length + 1 }, (_, i) => i)
  for (const letter of b) {
    const next = [(row[0] ?? 0) + 1]
    for (let i = 1; i <= a.length; i++) {
      const changed = (row[i - 1] ?? 0) + (a[i - 1] === letter ? 0 : 1)
      next.push(Math.min(changed, (row[i] ?? 0) + 1, (next[i - 1] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
