// Notices that do not expire while the order they are about can still be bound.
import type { Migration } from './migration.ts'

export const keptNotices: Migration = () => [
  // kept_for: the number of this order; NULL for a notice that expires.
  `ALTER TABLE notices ADD COLUMN kept_for BIGINT`,
  `UPDATE notices SET kept_for = (SELECT MIN(orders.id) FROM orders
      WHERE orders.buyer_id = notices.account_id AND orders.status = 'confirmed' AND orders.holds IS NOT NULL
        AND notices.frame LIKE '%"' || orders.order_id || '"%')
    WHERE frame LIKE '%"payment_confirmed"%'`,
  `DROP INDEX IF EXISTS notices_by_age`, // The very first stores do not have it.
  `CREATE INDEX notices_by_age ON notices (created_at) WHERE kept_for IS NULL`,
  `CREATE INDEX notices_kept ON notices (kept_for) WHERE kept_for IS NOT NULL`,
]
