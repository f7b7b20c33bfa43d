// The tables of push: the subscriptions, how far each account has been woken, and the wake-up pushes still to
// be sent.
import { type Migration, sqlWords } from './migration.ts'

export const push: Migration = (dialect) => {
  const { identity, clustered } = sqlWords(dialect)
  return [
    // kind: 'web' or 'fcm'. target: the endpoint, or the registration token.
    // p256dh, auth: the browser's keys. kid: the relay's key it subscribed with.
    // failing_since: when the push service began to refuse pushes, NULL while it accepts them.
    `CREATE TABLE push_subscriptions (
      id ${identity},
      account_id BIGINT NOT NULL REFERENCES accounts (id),
      kind TEXT NOT NULL,
      target TEXT NOT NULL UNIQUE,
      p256dh TEXT NOT NULL,
      auth TEXT NOT NULL,
      kid TEXT NOT NULL,
      host TEXT NOT NULL,
      subscribed_at BIGINT NOT NULL,
      failing_since BIGINT
    )`,
    `CREATE INDEX push_subscriptions_by_account ON push_subscriptions (account_id, id)`,
    // position: the mailbox position up to which a wake-up push was sent.
    `CREATE TABLE push_wakes (
      account_id BIGINT PRIMARY KEY,
      position BIGINT NOT NULL,
      message_at BIGINT NOT NULL,
      call_at BIGINT NOT NULL
    )`,
    // The wake-up pushes to send, one row per subscription and kind ('message', 'call').
    // due_at: when to send it. A sender that takes a row moves due_at ahead and owns the row until then.
    `CREATE TABLE push_queue (
      subscription_id BIGINT NOT NULL,
      kind TEXT NOT NULL,
      host TEXT NOT NULL,
      due_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      attempts BIGINT NOT NULL,
      PRIMARY KEY (subscription_id, kind)
    ) ${clustered}`,
    `CREATE INDEX push_queue_by_due ON push_queue (due_at, host)`,
    `CREATE INDEX push_queue_by_host ON push_queue (host, due_at)`,
  ]
}
