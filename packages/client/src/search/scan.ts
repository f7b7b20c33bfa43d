// Looks for the messages of a query through blocks of messages.

import { latestPlaceFirst, type MessageBlock, type MessagePlace } from '../stores/stores.ts'
import { indexOfNeedle, type Needle } from './query.ts'

/** What to find in blocks. */
export interface BlockQuery {
  /** What a message's line must contain, at least one. */
  readonly needles: readonly Needle[]
  readonly conversationId?: string
  /** Only messages with an earlier place. */
  readonly before?: MessagePlace
  /** A whole number, at least 1, or infinity. */
  readonly limit: number
}

/** The places of the messages that are found, the latest first. */
export function findInBlocks<P extends MessagePlace>(
  blocks: readonly MessageBlock<P>[],
  { needles, conversationId, before, limit }: BlockQuery,
): readonly P[] {
  const found: P[] = []
  /** Once enough are found, the last of them: earlier messages are of no use. */
  let last: P | undefined
  const cut = (): void => {
    found.sort(latestPlaceFirst)
    if (found.length >= limit) found.length = limit
    last = found[limit - 1]
  }
  const isWanted = (place: P): boolean =>
    (conversationId === undefined || place.conversationId === conversationId) &&
    (last === undefined || latestPlaceFirst(place, last) < 0) &&
    (before === undefined || latestPlaceFirst(before, place) < 0)
  for (const block of blocks.toSorted((a, b) => b.latest - a.latest || 0)) {
    if (last && block.latest < last.time) break
    if (before && block.earliest > before.time) continue
    for (const place of placesIn(block, needles, isWanted)) {
      found.push(place)
      // Sorting costs less if it is not done for each.
      if (found.length >= (last ? 2 * limit : limit)) cut()
    }
  }
  cut()
  return found
}

/** The messages of a block that are wanted and whose lines have all needles. */
function* placesIn<P extends MessagePlace>(
  { lines, places }: MessageBlock<P>,
  needles: readonly Needle[],
  isWanted: (place: P) => boolean,
): Generator<P> {
  const firsts = needles.map((needle) => indexOfNeedle(lines, needle))
  if (firsts.includes(-1)) return
  // The needle that comes first at the latest is probably the rarest.
  const first = Math.max(...firsts)
  const rarest = needles[firsts.indexOf(first)]
  if (!rarest) return
  const others = needles.filter((needle) => needle !== rarest)
  let [start, at] = [0, 0]
  for (let hit = first; hit !== -1; hit = indexOfNeedle(lines, rarest, start)) {
    let end = lines.indexOf('\n', start)
    while (end !== -1 && end < hit) {
      start = end + 1
      at += 1
      end = lines.indexOf('\n', start)
    }
    const place = places[at]
    // A block that was damaged on the disk may have fewer places than lines.
    if (end === -1 || !place) return
    if (isWanted(place)) {
      const line = lines.slice(start, end)
      if (others.every((needle) => indexOfNeedle(line, needle) !== -1)) yield place
    }
    start = end + 1
    at += 1
  }
}
