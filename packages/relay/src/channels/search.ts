// Searches public channels: reads a bounded number of candidates from the index of words and ranks them, in
// the same way on both database engines.
import { type AccountId, part, query, type Sql, type SqlPart } from '../storage/storage.ts'
import type { ChannelNumber, ChannelRow } from './channel-row.ts'
import { wordsOf } from './word-index.ts'

/** Only this many words of a query are used. */
const QUERY_WORDS = 4
const MOST_RESULTS = 50
/**
 * A search takes at most this many rows of the index as candidates, whatever channels contain, and looks up
 * the other words of the query only for these.
 */
const MOST_CANDIDATES = 2000
/** It ranks at most this many of the candidates that match. */
const MOST_RANKED = 600

/** A word of a query, and the ends of the index ranges of the word itself and of its longer forms. */
interface SearchedWord {
  readonly text: string
  readonly end: string
  readonly longerEnd: string
}

type FoundChannel = ChannelRow & { readonly score: number; readonly subscriber_count: number }

/**
 * Public channels that contain, for every word of the query, that word or a word that begins with it. The
 * best come first: matches in the name before those in the description, whole words before prefixes, then by
 * the number of subscribers. If every word of the query has more matches than a search takes as candidates,
 * each word gets an equal share of the candidates, and other channels are not found.
 */
export async function searchChannels(sql: Sql, query: string, viewer: AccountId): Promise<ChannelRow[]> {
  // The longest word is likely to find the fewest channels.
  const words = wordsOf(query)
    .sort((a, b) => b.length - a.length)
    .slice(0, QUERY_WORDS)
    .map(searchedWord)
  let rarest: SearchedWord | undefined
  let fewest = MOST_CANDIDATES
  for (const word of words) {
    const matches = await countMatches(sql, word)
    if (matches === 0) return []
    if (matches < fewest) [rarest, fewest] = [word, matches]
  }
  // Every channel that matches is among the candidates of each word, if they are complete.
  const starts = rarest ? [rarest] : words
  const share = starts.length
  const found = new Map<ChannelNumber, FoundChannel>()
  for (const start of starts) {
    await otherWork()
    for (const row of await rankCandidates(sql, start, { share, words, viewer })) found.set(row.id, row)
  }
  return [...found.values()].sort(byRank).slice(0, MOST_RESULTS)
}

// Queries of SQLite block the event loop, so the parts of a search take turns with other work.
function otherWork(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function byRank(a: FoundChannel, b: FoundChannel): number {
  return b.score - a.score || b.subscriber_count - a.subscriber_count || a.id - b.id
}

/** A single letter or digit, except in scripts in which one character can be a word. */
const LETTER = /^(?!\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul})[\p{L}\p{N}]$/u
/** Appended to a word, it sorts after the word and before every longer one. */
const NEXT = '\u0001'
/** Appended to a word, it sorts after every longer word that begins with it. */
const LAST = '\u{10FFFF}'

// A single letter matches only itself: too many words begin with it.
function searchedWord(text: string): SearchedWord {
  const end = text + NEXT
  return { text, end, longerEnd: LETTER.test(text) ? end : text + LAST }
}

/** How many rows of the index match a word, counted up to the most that a search takes. */
async function countMatches(sql: Sql, { text, longerEnd }: SearchedWord): Promise<number> {
  const [counted] = await sql<{ count: number }>`
    SELECT COUNT(*) AS count FROM (
      SELECT words.channel FROM search_places AS places CROSS JOIN channel_words AS words
      WHERE places.is_whole = 1 AND words.in_name = places.in_name AND words.level = places.level
        AND words.word >= ${text} AND words.word < ${longerEnd}
      LIMIT ${MOST_CANDIDATES}
    ) AS matches`
  return counted?.count ?? 0
}

/**
 * The best channels that match all words, among the first candidates of one word. Candidates are read in the
 * order of their score for that word, then of their level of popularity, until enough of them match.
 */
async function rankCandidates(
  sql: Sql,
  start: SearchedWord,
  { share, words, viewer }: { share: number; words: readonly SearchedWord[]; viewer: AccountId },
): Promise<FoundChannel[]> {
  // The other words come first: a candidate without one of them costs no more look-ups.
  const [first = NONE, second = NONE, third = NONE] = words.filter((word) => word !== start)
  return await sql<FoundChannel>(
    ...query`
    WITH matching AS MATERIALIZED (
      SELECT channel, score FROM (
        SELECT words.channel,
          ${scoreOf(first)} + ${scoreOf(second)} + ${scoreOf(third)} + ${scoreOf(start)} AS score
        FROM search_places AS places CROSS JOIN channel_words AS words
        WHERE words.in_name = places.in_name AND words.level = places.level
          AND words.word >= CASE WHEN places.is_whole = 1 THEN ${start.text} ELSE ${start.end} END
          AND words.word < CASE WHEN places.is_whole = 1 THEN ${start.end} ELSE ${start.longerEnd} END
        ORDER BY places.place
        LIMIT ${Math.floor(MOST_CANDIDATES / share)}
      ) AS candidates
      WHERE score IS NOT NULL
      LIMIT ${Math.floor(MOST_RANKED / share)}
    )
    SELECT channels.id, channel_id, owner_id, name, description, is_public, sale_price, closed_for, subscriber_count,
      ranked.score, CASE WHEN subscriptions.account_id IS NULL THEN 0 ELSE 1 END AS is_subscribed
    FROM (SELECT DISTINCT channel, score FROM matching) AS ranked
    JOIN channels ON channels.id = ranked.channel AND channels.is_public = 1
    LEFT JOIN channel_subscriptions AS subscriptions
      ON subscriptions.account_id = ${viewer} AND subscriptions.channel = channels.id
    ORDER BY ranked.score DESC, channels.subscriber_count DESC, channels.id
    LIMIT ${MOST_RESULTS}`,
  )
}

/** The score of a candidate for a word of the query; NULL if it does not have the word. */
function scoreOf(searched: SearchedWord): SqlPart {
  const inName = bestMatch(searched, { inName: part`1`, whole: part`20`, longer: part`10` })
  const inDescription = bestMatch(searched, { inName: part`0`, whole: part`2`, longer: part`1` })
  return part`COALESCE(CASE WHEN ${searched.text} = '' THEN 0 END, (${inName}), (${inDescription}))`
}

function bestMatch(
  { text, longerEnd }: SearchedWord,
  { inName, whole, longer }: { inName: SqlPart; whole: SqlPart; longer: SqlPart },
): SqlPart {
  return part`
    SELECT CASE WHEN word = ${text} THEN ${whole} ELSE ${longer} END FROM channel_words
    WHERE channel = words.channel AND in_name = ${inName}
      AND word >= ${text} AND word < ${longerEnd} ORDER BY word LIMIT 1`
}

const NONE: SearchedWord = { text: '', end: '', longerEnd: '' }
