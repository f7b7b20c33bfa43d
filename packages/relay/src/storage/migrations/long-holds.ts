// Orders that are paid by hand and held for longer than others.
import type { Migration } from './migration.ts'

export const longHolds: Migration = () => [
  // is_held_long: 1 if the order got the longer time. Its end is in expires_at, like that of every order.
  `ALTER TABLE orders ADD COLUMN is_held_long BIGINT NOT NULL DEFAULT 0`,
  // If an account could have two such orders at the same time, this index lets only one through.
  `CREATE UNIQUE INDEX orders_held_long ON orders (buyer_id) WHERE is_held_long = 1 AND status = 'pending'`,
]
