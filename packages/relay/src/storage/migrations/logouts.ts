// When each account logged out everywhere.
import type { Migration } from './migration.ts'

export const logouts: Migration = () => [
  // logged_out_at: tokens that were issued under another value are dead; 0 until the first time. In ms since
  // 1970, but it rises each time, whatever the clock says.
  'ALTER TABLE accounts ADD COLUMN logged_out_at BIGINT NOT NULL DEFAULT 0',
  'CREATE INDEX accounts_by_logout ON accounts (logged_out_at) WHERE logged_out_at > 0',
]
