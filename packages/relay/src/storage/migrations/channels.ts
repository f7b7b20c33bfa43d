// The tables of public channels.
import { type Migration, sqlWords } from './migration.ts'

export const channels: Migration = (dialect) => {
  const { identity, clustered, ordered } = sqlWords(dialect)
  return [
    // sale_price: the price of the channel, NULL while it is not for sale.
    `CREATE TABLE channels (
      id ${identity},
      channel_id TEXT NOT NULL UNIQUE,
      owner_id BIGINT NOT NULL REFERENCES accounts (id),
      name TEXT NOT NULL,
      description TEXT NOT NULL,
      is_public BIGINT NOT NULL,
      sale_price BIGINT,
      created_at BIGINT NOT NULL,
      subscriber_count BIGINT NOT NULL
    )`,
    `CREATE INDEX channels_by_owner ON channels (owner_id)`,
    // The words of names and descriptions, for search.
    `CREATE TABLE channel_words (
      word ${ordered} NOT NULL,
      channel BIGINT NOT NULL,
      weight BIGINT NOT NULL,
      PRIMARY KEY (word, channel)
    ) ${clustered}`,
    `CREATE INDEX channel_words_by_channel ON channel_words (channel)`,
    `CREATE TABLE channel_subscriptions (
      account_id BIGINT NOT NULL,
      channel BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (account_id, channel)
    ) ${clustered}`,
    `CREATE INDEX channel_subscriptions_by_channel ON channel_subscriptions (channel)`,
    `CREATE TABLE channel_posts (
      id ${identity},
      post_id TEXT NOT NULL UNIQUE,
      channel BIGINT NOT NULL,
      author_id BIGINT NOT NULL REFERENCES accounts (id),
      type TEXT NOT NULL,
      content TEXT NOT NULL,
      created_at BIGINT NOT NULL
    )`,
    `CREATE INDEX channel_posts_by_channel ON channel_posts (channel, id)`,
    // The seats that an account bought in addition to the free ones.
    `CREATE TABLE channel_seats (account_id BIGINT PRIMARY KEY, bought BIGINT NOT NULL)`,
  ]
}
