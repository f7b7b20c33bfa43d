// Finding public channels by words: an index of words with weights, the same on both engines, and a ranking on it.
import type { AccountId, Sql } from '../storage/storage.ts'
import type { ChannelNumber, ChannelRow } from './catalog.ts'

const WEIGHTS = { name: 10, description: 1 }
const MOST_WORD_CHARACTERS = 40
/** Words of a query that count; further ones would only narrow down what is narrow already. */
const QUERY_WORDS = 4
const MOST_RESULTS = 50
/** Sorts after everything that begins with what stands before it. */
const LAST = '\u{10FFFF}'

/** A letter or a digit, but for scripts in which one is a word. */
const LETTER = /^(?!\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul})[\p{L}\p{N}]$/u

/** Where the words end that begin with this one. Too many begin with one letter to look at while others wait. */
function endOf(word: string): string {
  return LETTER.test(word) ? `${word}\u0001` : word + LAST
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** The words of a text: without case and accents, each once, in any script. */
function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const words = [...segmenter.segment(plain)].filter(({ isWordLike }) => isWordLike)
  return [...new Set(words.map(({ segment }) => [...segment].slice(0, MOST_WORD_CHARACTERS).join('')))]
}

/** Takes a channel's words into the index. */
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

export async function forgetWords(sql: Sql, channel: ChannelNumber): Promise<void> {
  await sql`DELETE FROM channel_words WHERE channel = ${channel}`
}

/**
 * Public channels that have every word of the query, or one that begins with it. The best come first: by where the
 * words stand and whether they are whole, then by how many are subscribed.
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
    ) AS found
    JOIN channels ON channels.id = found.channel AND channels.is_public = 1
    LEFT JOIN (
      SELECT channel, MAX(weight * CASE WHEN word = ${second} THEN 2 ELSE 1 END) AS score FROM channel_words
      WHERE ${second} <> '' AND word >= ${second} AND word < ${endOf(second)} GROUP BY channel
    ) AS also ON also.channel = channels.id
    LEFT JOIN (
      SELECT channel, MAX(weight * CASE WHEN word = ${third} THEN 2 ELSE 1 END) AS score FROM channel_words
      WHERE ${third} <> '' AND word >= ${third} AND word < ${endOf(third)} GROUP BY channel
    ) AS too ON too.channel = channels.id
    LEFT JOIN (
      SELECT channel, MAX(weight * CASE WHEN word = ${fourth} THEN 2 ELSE 1 END) AS score FROM channel_words
      WHERE ${fourth} <> '' AND word >= ${fourth} AND word < ${endOf(fourth)} GROUP BY channel
    ) AS besides ON besides.channel = channels.id
    LEFT JOIN channel_subscriptions AS subscriptions
      ON subscriptions.account_id = ${viewer} AND subscriptions.channel = channels.id
    WHERE (${second} = '' OR also.score IS NOT NULL) AND (${third} = '' OR too.score IS NOT NULL)
      AND (${fourth} = '' OR besides.score IS NOT NULL)
    ORDER BY found.score + COALESCE(also.score, 0) + COALESCE(too.score, 0) + COALESCE(besides.score, 0) DESC,
      channels.subscriber_count DESC, channels.id
    LIMIT ${MOST_RESULTS}`
}
