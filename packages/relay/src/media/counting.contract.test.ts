// What a folder holds for an account always counts for it, whatever was cut off, repeated or killed. The same
// for Swift is in completing.contract.test.ts, because starting Swift takes long.
import { describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { engines } from '../../test/engines.ts'
import { bytesInFolder } from '../../test/media-bytes.ts'
import { expectAllCounted } from '../../test/media-counting.ts'
import { bytesOfMedia } from './budget.ts'
import { openFolderStore } from './folder-store.ts'

for (const engine of engines) {
  describe(`in a folder, on ${engine.name}`, () => {
    test('the bytes that are stored never exceed those that count, and a blob holds exactly its parts', async () => {
      const [database, root] = [await engine.open(), await mkdtemp(join(tmpdir(), 'sotto-counting-'))]
      try {
        const openPlace = async () => {
          const folder = await mkdtemp(join(root, 'place-'))
          return { open: () => openFolderStore(folder), storedBytes: () => bytesInFolder(folder) }
        }
        const runs = engine.name === 'SQLite' ? 100 : 15
        await expectAllCounted({ storage: database.storage, openPlace }, { sizes: [1, 2, 3, 16], runs })
        const { sql } = database.storage
        const [sum] = await sql<{ bytes: number }>`
          SELECT CAST(SUM(bytes) AS BIGINT) AS bytes
          FROM (SELECT bytes FROM media_blobs UNION ALL SELECT bytes FROM media_doomed) AS held`
        expect(await bytesOfMedia(sql)).toBe(sum?.bytes ?? 0)
      } finally {
        await database.remove()
        await rm(root, { recursive: true })
      }
    }, 120_000)
  })
}
