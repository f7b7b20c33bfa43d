// Cleans the nicknames, channel names and descriptions that were stored before the relay cleaned them.
import { cleanName, cleanText } from '@sotto/protocol'
import type { Sql } from '../storage.ts'
import type { Migration } from './migration.ts'

const PAGE = 1000

export const cleanNames: Migration = () => [cleanNicknames, cleanChannels]

async function cleanNicknames(sql: Sql): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await sql<{ id: number; alias_id: string; nickname: string }>`
      SELECT id, alias_id, nickname FROM accounts WHERE id > ${after} AND deleted_at IS NULL
      ORDER BY id LIMIT ${PAGE}`
    for (const { id, alias_id, nickname } of rows) {
      const clean = cleanName(nickname) || alias_id
      if (clean !== nickname) await sql`UPDATE accounts SET nickname = ${clean} WHERE id = ${id}`
    }
    const last = rows.at(-1)
    if (!last) return
    after = last.id
  }
}

async function cleanChannels(sql: Sql): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await sql<{ id: number; channel_id: string; name: string; description: string }>`
      SELECT id, channel_id, name, description FROM channels WHERE id > ${after} ORDER BY id LIMIT ${PAGE}`
    for (const { id, channel_id, name, description } of rows) {
      const clean = { name: cleanName(name) || channel_id, description: cleanText(description) }
      if (clean.name === name && clean.description === description) continue
      await sql`
        UPDATE channels SET name = ${clean.name}, description = ${clean.description} WHERE id = ${id}`
    }
    const last = rows.at(-1)
    if (!last) return
    after = last.id
  }
}
