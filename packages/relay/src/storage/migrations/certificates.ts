// The table of the certificate by ACME, which all nodes serve.
import type { Migration } from './migration.ts'

export const certificates: Migration = () => [
  // Empty in an embedded store, whose relay keeps these files in a folder.
  // name: of a file. pem: the account's private key; or a certificate after its private key.
  `CREATE TABLE certificates (
    name TEXT PRIMARY KEY,
    pem TEXT NOT NULL
  )`,
]
