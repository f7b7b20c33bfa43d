// The newest connection of each account, over all nodes that share the store. An embedded store leaves it
// empty.
import type { Migration } from './migration.ts'

export const connections: Migration = () => [
  // epoch: grows with each connection of the account; the connection with the highest is the one that counts.
  // jti: the id of the token that opened it, which ends at token_ends_at, in ms since 1970. node: the node
  // that it is at; '' once it is closed. older_…: the same of the connection before it.
  `CREATE TABLE connections (
    account_id BIGINT PRIMARY KEY,
    epoch BIGINT NOT NULL,
    jti TEXT NOT NULL,
    token_ends_at BIGINT NOT NULL,
    node TEXT NOT NULL,
    older_jti TEXT NOT NULL,
    older_token_ends_at BIGINT NOT NULL,
    older_node TEXT NOT NULL
  )`,
]
