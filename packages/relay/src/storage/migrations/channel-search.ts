// The words of public channels in the order in which a bounded search reads them.
import { type Migration, sqlWords } from './migration.ts'

const LEVELS = [7, 6, 5, 4, 3, 2, 1, 0]

/** The rows of `search_places`: whole words of names first; of each kind, the most popular channels first. */
const places = [1, 0]
  .flatMap((inName) => [1, 0].flatMap((isWhole) => LEVELS.map((level) => [inName, isWhole, level])))
  .map((row, place) => `(${[place, ...row].join(', ')})`)

export const channelSearch: Migration = (dialect) => {
  const { clustered, ordered } = sqlWords(dialect)
  return [
    `ALTER TABLE channel_words RENAME TO channel_words_before`,
    `DROP INDEX channel_words_by_channel`,
    // in_name: 1 for a word of the name, 0 for one of the description alone.
    // level: how popular the channel is, from 0 to 7 (channels/word-index.ts).
    `CREATE TABLE channel_words (
      in_name BIGINT NOT NULL,
      level BIGINT NOT NULL,
      word ${ordered} NOT NULL,
      channel BIGINT NOT NULL,
      PRIMARY KEY (in_name, level, word, channel)
    ) ${clustered}`,
    `INSERT INTO channel_words (in_name, level, word, channel)
      SELECT CASE WHEN weight > 1 THEN 1 ELSE 0 END AS in_name,
        CASE WHEN subscriber_count >= 16384 THEN 7 WHEN subscriber_count >= 4096 THEN 6
          WHEN subscriber_count >= 1024 THEN 5 WHEN subscriber_count >= 256 THEN 4
          WHEN subscriber_count >= 64 THEN 3 WHEN subscriber_count >= 16 THEN 2
          WHEN subscriber_count >= 4 THEN 1 ELSE 0 END AS level,
        word, channel
      FROM channel_words_before JOIN channels ON channels.id = channel
      WHERE is_public = 1
      ORDER BY 1, 2, 3, 4`,
    `CREATE UNIQUE INDEX channel_words_by_channel ON channel_words (channel, in_name, word)`,
    `DROP TABLE channel_words_before`,
    // The parts of channel_words, in the order in which a search reads them. It is a table, so that both
    // engines can follow its order and stop early. is_whole: 1 for the word itself, 0 for longer ones.
    `CREATE TABLE search_places (
      place BIGINT PRIMARY KEY,
      in_name BIGINT NOT NULL,
      is_whole BIGINT NOT NULL,
      level BIGINT NOT NULL
    ) ${clustered}`,
    `INSERT INTO search_places (place, in_name, is_whole, level) VALUES ${places.join(', ')}`,
    // PostgreSQL would plan the first searches without knowing the sizes of the tables.
    ...(dialect === 'postgres' ? [`ANALYZE channel_words`, `ANALYZE search_places`] : []),
  ]
}
