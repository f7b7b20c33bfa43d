// Deletes expired challenges and tickets, and the records of dead tokens that have expired.
import type { Storage } from '../storage/storage.ts'

export async function purgeExpired(storage: Storage, now: number): Promise<void> {
  await storage.transaction(async (sql) => {
    await sql`DELETE FROM pow_challenges WHERE expires_at <= ${now}`
    await sql`DELETE FROM used_challenges WHERE expires_at <= ${now}`
    await sql`DELETE FROM tickets WHERE expires_at <= ${now}`
    // Kept for one more day, because the answer to an upgrade with an expired token depends on why the token
    // died.
    await sql`DELETE FROM dead_tokens WHERE expires_at <= ${now - 86_400_000}`
  })
}
