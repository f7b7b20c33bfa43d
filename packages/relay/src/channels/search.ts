// Full-text search for public channels: an index of words with weights and a ranking, the same on both
// database engines.
import type { AccountId, Sql } from '../storage/storage.ts'
import type { ChannelNumber, ChannelRow } from './channel-row.ts'

const WEIGHTS = { name: 10, description: 1 }
const MOST_WORD_CHARACTERS = 40
/** Only this many words of a query are used. */
const QUERY_WORDS = 4
const MOST_RESULTS = 50
/** Appended to a prefix, it sorts after every word that begins with the prefix. */
const LAST = '\u{10FFFF}'

/** A single letter or digit, except in scripts in which one character can be a word. */
const LETTER = /^(?!\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul})[\p{L}\p{N}]$/u

/**
 * The end of the index range to search for a word. A single letter matches only itself: too many words begin
 * with it.
 */
function endOf(word: string): string {
  return LETTER.test(word) ? `${word}\u0001` : word + LAST
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** The distinct words of a text in any script, in lower case and without accents. */
function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const words = [...segmenter.segment(plain)].filter(({ isWordLike }) => isWordLike)
  return [...new Set(words.map(({ segment }) => [...segment].slice(0, MOST_WORD_CHARACTERS).join('')))]
}

/** Adds a channel's words to the index. */
export async function indexWords(
  sql: Sql,
  channel: ChannelNumber,
  texts: { readonly name: string; readonly description: string },
): Promise<void> {
  const weights = new Map<string, number>()
  for (const word of wordsOf(texts.description)) weights.set(word, WEIGHTS.description)
  for (const word of wordsOf(texts.name)) weights.set(word, WEIGHTS.name)
  for (const [word, weight] of weights) {
    await sql`INSERT INTO channel_words (word, channel, weight) VALUES (${word}, ${channel}, ${weight})`
  }
}

export async function removeWords(sql: Sql, channel: ChannelNumber): Promise<void> {
  await sql`DELETE FROM channel_words WHERE channel = ${channel}`
}

/**
 * Public channels that contain, for every word of the query, that word or a word that begins with it. The
 * best come first: matches in the name before those in the description, whole words before prefixes, then by
 * the number of subscribers.
 */
export async function searchChannels(sql: Sql, query: string, viewer: AccountId): Promise<ChannelRow[]> {
  // The longest word is likely to find the fewest channels.
  const words = wordsOf(query).sort((a, b) => b.length - a.length)
  const [first, second = '', third = '', fourth = ''] = words.slice(0, QUERY_WORDS)
  if (first === undefined) return []
  return await sql<ChannelRow>`
    SELECT channels.id, channel_id, owner_id, name, description, is_public, sale_price,
      CASE WHEN subscriptions.account_id IS NULL THEN 0 ELSE 1 END AS is_subscribed
    FROM (
      SELECT channel, MAX(weight * CASE WHEN word = ${first} THEN 2 ELSE 1 END) AS score FROM channel_words
      WHERE word >= ${first} AND word < ${endOf(first)} GROUP BY channel
    ) AS first_word
    JOIN channels ON channels.id = first_word.channel AND channels.is_public = 1
    LEFT JOIN (
      SELECT channel, MAX(weight * CASE WHEN word = ${second} THEN 2 ELSE 1 END) AS score FROM channel_words
      WHERE ${second} <> '' AND word >= ${second} AND word < ${endOf(second)} GROUP BY channel
    ) AS second_word ON second_word.channel = channels.id
    LEFT JOIN (
      SELECT channel, MAX(weight * CASE WHEN word = ${third} THEN 2 ELSE 1 END) AS score FROM channel_words
      WHERE ${third} <> '' AND word >= ${third} AND word < ${endOf(third)} GROUP BY channel
    ) AS third_word ON third_word.channel = channels.id
    LEFT JOIN (
      SELECT channel, MAX(weight * CASE WHEN word = ${fourth} THEN 2 ELSE 1 END) AS score FROM channel_words
      WHERE ${fourth} <> '' AND word >= ${fourth} AND word < ${endOf(fourth)} GROUP BY channel
    ) AS fourth_word ON fourth_word.channel = channels.id
    LEFT JOIN channel_subscriptions AS subscriptions
      ON subscriptions.account_id = ${viewer} AND subscriptions.channel = channels.id
    WHERE (${second} = '' OR second_word.score IS NOT NULL) AND (${third} = '' OR third_word.score IS NOT NULL)
      AND (${fourth} = '' OR fourth_word.score IS NOT NULL)
    ORDER BY first_word.score + COALESCE(second_word.score, 0) + COALESCE(third_word.score, 0) + COALESCE(fourth_word.score, 0) DESC,
      channels.subscriber_count DESC, channels.id
    LIMIT ${MOST_RESULTS}`
}
