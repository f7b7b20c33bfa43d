// The tables of key packages.
import { type Migration, sqlWords } from './migration.ts'

export const keyPackages: Migration = (dialect) => {
  const { identity, clustered } = sqlWords(dialect)
  return [
    // uploaded_at: of the last package.
    `CREATE TABLE key_package_devices (
      account_id BIGINT NOT NULL,
      device TEXT NOT NULL,
      uploaded_at BIGINT NOT NULL,
      PRIMARY KEY (account_id, device)
    ) ${clustered}`,
    // package: '' once it was given out, or replaced after that: the row then only keeps the id, so that the
    // relay does not take it again.
    // is_given: 1 once it was given out. A last resort keeps its package.
    // expires_at: NULL of a last resort.
    `CREATE TABLE key_packages (
      id ${identity},
      account_id BIGINT NOT NULL,
      device TEXT NOT NULL,
      package_id TEXT NOT NULL,
      package TEXT NOT NULL,
      is_last_resort BIGINT NOT NULL,
      is_given BIGINT NOT NULL,
      expires_at BIGINT,
      UNIQUE (account_id, package_id)
    )`,
    `CREATE INDEX key_packages_waiting ON key_packages (account_id, device, id)
      WHERE is_given = 0 AND is_last_resort = 0`,
    `CREATE UNIQUE INDEX key_packages_last ON key_packages (account_id, device) WHERE is_last_resort = 1`,
    `CREATE INDEX key_packages_by_end ON key_packages (expires_at) WHERE expires_at IS NOT NULL`,
    // How often one account (claimer_id) got packages of another one (account_id) on a day.
    // day: counted since 1970.
    `CREATE TABLE key_package_claims (
      claimer_id BIGINT NOT NULL,
      account_id BIGINT NOT NULL,
      day BIGINT NOT NULL,
      claims BIGINT NOT NULL,
      PRIMARY KEY (claimer_id, account_id)
    ) ${clustered}`,
    `CREATE INDEX key_package_claims_by_day ON key_package_claims (day)`,
    `CREATE INDEX key_package_claims_by_account ON key_package_claims (account_id)`,
  ]
}
