// The index that channels are searched by: the words of each public channel, those of names and of popular
// channels first.
import type { Sql } from '../storage/storage.ts'
import type { ChannelNumber } from './channel-row.ts'

const MOST_WORD_CHARACTERS = 40
/** The levels of popularity, the highest first. Each needs four times the subscribers of the one below. */
const LEVELS = [7, 6, 5, 4, 3, 2, 1, 0]

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** The distinct words of a text in any script, in lower case and without accents. */
export function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const words = [...segmenter.segment(plain)].filter(({ isWordLike }) => isWordLike)
  return [...new Set(words.map(({ segment }) => [...segment].slice(0, MOST_WORD_CHARACTERS).join('')))]
}

/** A channel's level of popularity in the index. */
export function levelOf(subscribers: number): number {
  return LEVELS.find((level) => subscribers >= 4 ** level && level > 0) ?? 0
}

/** Replaces a channel's words in the index. A channel that is not public has none. */
export async function indexWords(
  sql: Sql,
  channel: ChannelNumber,
  { name, description, isPublic }: { name: string; description: string; isPublic: boolean },
): Promise<void> {
  await removeWords(sql, channel)
  if (!isPublic) return
  const [row] = await sql<{ subscriber_count: number }>`
    SELECT subscriber_count FROM channels WHERE id = ${channel}`
  const level = levelOf(row?.subscriber_count ?? 0)
  const inName = new Set(wordsOf(name))
  for (const word of new Set([...inName, ...wordsOf(description)])) {
    await sql`
      INSERT INTO channel_words (in_name, level, word, channel)
      VALUES (${inName.has(word) ? 1 : 0}, ${level}, ${word}, ${channel})`
  }
}

/** Removes a channel's words from the index. */
export async function removeWords(sql: Sql, channel: ChannelNumber): Promise<void> {
  await sql`DELETE FROM channel_words WHERE channel = ${channel}`
}

/**
 * Moves a channel's words up if its newest subscriber has brought it to another level. They move down only
 * when the channel is edited, so that one account that comes and goes causes no writes.
 */
export async function raiseLevel(sql: Sql, channel: ChannelNumber, subscribers: number): Promise<void> {
  const level = levelOf(subscribers)
  if (level === levelOf(subscribers - 1)) return
  await sql`UPDATE channel_words SET level = ${level} WHERE channel = ${channel} AND level < ${level}`
}
