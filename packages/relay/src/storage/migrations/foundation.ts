// The tables of accounts, friends, conversations and mailboxes.
import { type Migration, sqlWords } from './migration.ts'

export const foundation: Migration = (dialect) => {
  const { identity, bytes, clustered } = sqlWords(dialect)
  return [
    // A deleted account keeps its row, without keys, so that its uuid is never used again.
    `CREATE TABLE accounts (
      id ${identity},
      uuid TEXT NOT NULL UNIQUE,
      alias_id TEXT NOT NULL UNIQUE,
      nickname TEXT NOT NULL,
      ed25519_public_key TEXT UNIQUE,
      x25519_public_key TEXT,
      created_at BIGINT NOT NULL,
      deleted_at BIGINT
    )`,
    // Every alias that an account has or had.
    `CREATE TABLE aliases (
      alias_id TEXT PRIMARY KEY,
      account_id BIGINT NOT NULL REFERENCES accounts (id)
    )`,
    `CREATE TABLE pow_challenges (
      challenge TEXT PRIMARY KEY,
      address TEXT NOT NULL,
      difficulty BIGINT NOT NULL,
      expires_at BIGINT NOT NULL
    )`,
    `CREATE INDEX pow_challenges_by_address ON pow_challenges (address, expires_at)`,
    `CREATE INDEX pow_challenges_by_expiry ON pow_challenges (expires_at)`,
    `CREATE TABLE used_challenges (nonce TEXT PRIMARY KEY, expires_at BIGINT NOT NULL)`,
    `CREATE INDEX used_challenges_by_expiry ON used_challenges (expires_at)`,
    `CREATE TABLE tickets (
      ticket_hash TEXT PRIMARY KEY,
      account_id BIGINT NOT NULL,
      jti TEXT NOT NULL,
      token_expires_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL
    )`,
    `CREATE INDEX tickets_by_expiry ON tickets (expires_at)`,
    // reason: a 'revoked' token is refused everywhere, a 'replaced' token opens no WebSocket.
    `CREATE TABLE dead_tokens (jti TEXT PRIMARY KEY, reason TEXT NOT NULL, expires_at BIGINT NOT NULL)`,
    `CREATE INDEX dead_tokens_by_expiry ON dead_tokens (expires_at)`,
    // The relay's secrets by purpose: 'token' signs JSON web tokens, 'challenge' authenticates login
    // challenges, 'vapid' signs requests to push services, 'media' signs links to blobs.
    `CREATE TABLE relay_keys (
      kid TEXT PRIMARY KEY,
      purpose TEXT NOT NULL,
      secret ${bytes} NOT NULL,
      created_at BIGINT NOT NULL
    )`,
    `CREATE TABLE relay_state (name TEXT PRIMARY KEY, value TEXT NOT NULL)`,

    // One row per pair, with the lower account id in low_id. Deleted when the friendship ends.
    `CREATE TABLE friendships (
      id ${identity},
      low_id BIGINT NOT NULL REFERENCES accounts (id),
      high_id BIGINT NOT NULL REFERENCES accounts (id),
      requester_id BIGINT NOT NULL,
      recipient_id BIGINT NOT NULL,
      status TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      changed_at BIGINT NOT NULL,
      UNIQUE (low_id, high_id)
    )`,
    `CREATE INDEX friendships_by_requester ON friendships (requester_id)`,
    `CREATE INDEX friendships_by_recipient ON friendships (recipient_id)`,
    `CREATE TABLE blocks (
      blocker_id BIGINT NOT NULL REFERENCES accounts (id),
      blocked_id BIGINT NOT NULL REFERENCES accounts (id),
      created_at BIGINT NOT NULL,
      PRIMARY KEY (blocker_id, blocked_id)
    )`,

    // The conversation of a pair, kept permanently. is_open: 1 while the two are friends.
    `CREATE TABLE conversations (
      id ${identity},
      conv_id TEXT NOT NULL UNIQUE,
      low_id BIGINT NOT NULL,
      high_id BIGINT NOT NULL,
      is_open BIGINT NOT NULL,
      last_seq BIGINT NOT NULL,
      last_at BIGINT NOT NULL,
      UNIQUE (low_id, high_id)
    )`,
    `CREATE INDEX conversations_by_high ON conversations (high_id)`,
    // One direction of a conversation. pending_count, pending_bytes: the undelivered messages.
    // delivered_seq, read_seq: the marks that the recipient has confirmed.
    // told_delivered_seq, told_read_seq: the marks that have certainly reached the sender.
    `CREATE TABLE lanes (
      conversation_id BIGINT NOT NULL,
      recipient_id BIGINT NOT NULL,
      sender_id BIGINT NOT NULL,
      pending_count BIGINT NOT NULL,
      pending_bytes BIGINT NOT NULL,
      delivered_seq BIGINT NOT NULL,
      read_seq BIGINT NOT NULL,
      told_delivered_seq BIGINT NOT NULL,
      told_read_seq BIGINT NOT NULL,
      PRIMARY KEY (conversation_id, recipient_id)
    ) ${clustered}`,
    `CREATE INDEX lanes_to_tell ON lanes (sender_id)
      WHERE told_delivered_seq < delivered_seq OR told_read_seq < read_seq`,
    `CREATE INDEX lanes_pending ON lanes (conversation_id, recipient_id) WHERE pending_count > 0`,
    `CREATE TABLE mailboxes (
      account_id BIGINT PRIMARY KEY,
      last_position BIGINT NOT NULL,
      pending_count BIGINT NOT NULL,
      pending_bytes BIGINT NOT NULL
    )`,
    // The undelivered messages and retractions. kind: 0 for a message, 1 for a retraction (no payload).
    `CREATE TABLE messages (
      conversation_id BIGINT NOT NULL,
      recipient_id BIGINT NOT NULL,
      seq BIGINT NOT NULL,
      position BIGINT NOT NULL,
      kind BIGINT NOT NULL,
      message_id TEXT NOT NULL,
      crypto_v BIGINT NOT NULL,
      payload TEXT NOT NULL,
      at BIGINT NOT NULL,
      PRIMARY KEY (conversation_id, recipient_id, seq)
    ) ${clustered}`,
    `CREATE UNIQUE INDEX messages_by_position ON messages (recipient_id, position)`,
    `CREATE INDEX messages_retractions ON messages (at) WHERE kind = 1`,
    // Every message id that a sender used, also after delivery, retraction and expiry.
    `CREATE TABLE sent_ids (
      sender_id BIGINT NOT NULL,
      message_id TEXT NOT NULL,
      conversation_id BIGINT NOT NULL,
      seq BIGINT NOT NULL,
      at BIGINT NOT NULL,
      is_retracted BIGINT NOT NULL,
      PRIMARY KEY (sender_id, message_id)
    ) ${clustered}`,
    // Frames for one account that are not part of a conversation's order, kept until they have arrived.
    `CREATE TABLE notices (
      id ${identity},
      account_id BIGINT NOT NULL,
      frame TEXT NOT NULL,
      created_at BIGINT NOT NULL
    )`,
    `CREATE INDEX notices_by_account ON notices (account_id, id)`,
    `CREATE INDEX notices_by_age ON notices (created_at)`,
  ]
}
