// Where the certificate and the key of the account are kept: in a folder, or with PostgreSQL in the store,
// because all nodes serve one certificate.
import {
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Turn } from '../operations/turns.ts'
import type { ReadStorage, Storage } from '../storage/storage.ts'

/** Files in PEM by their names. */
export interface KeptPem {
  /** @returns undefined if there is none */
  read(name: string): Promise<string | undefined>
  /**
   * The file appears whole or not at all, also after a power cut.
   * @throws TurnOver if another node may have the turn
   */
  write(name: string, pem: string, turn: Turn): Promise<void>
}

/** What the relay reads and writes. Only the relay's user may read the folder. */
export async function openKeptPem(folder: string, storage: Storage): Promise<KeptPem> {
  if (storage.engine.dialect === 'postgres') {
    await adoptFolder(folder, storage)
  } else {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    chmodSync(folder, 0o700)
  }
  return keptPemOf(folder, storage)
}

/** What {@link openKeptPem} opens, without changing anything. */
export function keptPemOf(folder: string, storage: ReadStorage): KeptPem {
  if (storage.engine.dialect === 'postgres') return inStore(storage)
  return {
    read: async (name) => textOf(join(folder, name)),
    write: async (name, pem) => writePrivate(join(folder, name), pem),
  }
}

function inStore(storage: ReadStorage): KeptPem {
  return {
    read: async (name) => {
      const [row] = await storage.sql<{ pem: string }>`SELECT pem FROM certificates WHERE name = ${name}`
      return row?.pem
    },
    write: (name, pem, turn) =>
      turn.storage.transaction(async (sql) => {
        await sql`
          INSERT INTO certificates (name, pem) VALUES (${name}, ${pem})
          ON CONFLICT (name) DO UPDATE SET pem = excluded.pem`
      }),
  }
}

// A relay that had an embedded store, or an older version, has them in its folder. A new certificate could be
// refused to it, because servers sign few.
async function adoptFolder(folder: string, storage: Storage): Promise<void> {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.pem')) : []
  for (const name of names) {
    const pem = textOf(join(folder, name))
    if (pem)
      await storage.transaction(
        (sql) =>
          sql`INSERT INTO certificates (name, pem) VALUES (${name}, ${pem}) ON CONFLICT (name) DO NOTHING`,
      )
  }
}

function textOf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

function writePrivate(file: string, text: string): void {
  const unfinished = openSync(`${file}.new`, 'w', 0o600)
  try {
    fchmodSync(unfinished, 0o600) // If it was left behind.
    writeFileSync(unfinished, text)
    fsyncSync(unfinished)
  } finally {
    closeSync(unfinished)
  }
  renameSync(`${file}.new`, file)
}
