// The table of invites.
import type { Migration } from './migration.ts'

export const invites: Migration = () => [
  // code_hash: a hash of the code, never the code itself.
  // account_id: the member who made it; NULL if the operator did.
  // used_at: when somebody last registered with it. Not who: nobody needs to know.
  `CREATE TABLE invites (
    invite_id TEXT PRIMARY KEY,
    code_hash TEXT NOT NULL UNIQUE,
    account_id BIGINT REFERENCES accounts (id),
    note TEXT NOT NULL,
    uses BIGINT NOT NULL,
    uses_left BIGINT NOT NULL CHECK (uses_left >= 0),
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    used_at BIGINT
  )`,
  `CREATE INDEX invites_by_account ON invites (account_id) WHERE account_id IS NOT NULL`,
]
