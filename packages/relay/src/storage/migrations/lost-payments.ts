// Payments that were judged, and that a reorganisation removed afterwards.
import type { Migration } from './migration.ts'

export const lostPayments: Migration = () => [
  // lost: NULL; 'missing' while the blocks that replaced the payment's block are not deep enough; 'lost'
  // after that; 'settled' once the operator has dealt with it.
  `ALTER TABLE payments ADD COLUMN lost TEXT`,
  `CREATE INDEX payments_lost ON payments (scope, height) WHERE lost IS NOT NULL`,
  `CREATE INDEX payments_final ON payments (scope, height) WHERE state = 'final'`,
]
