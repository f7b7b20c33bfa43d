// Forgetting what has run out: challenges, tickets, and dead tokens that would be dead by now anyway.
import type { Storage } from '../storage/storage.ts'

export async function purgeExpired(storage: Storage, now: number): Promise<void> {
  await storage.transaction(async (sql) => {
    await sql`DELETE FROM pow_challenges WHERE expires_at <= ${now}`
    await sql`DELETE FROM used_challenges WHERE expires_at <= ${now}`
    await sql`DELETE FROM tickets WHERE expires_at <= ${now}`
    // A WebSocket upgrade with an expired token is answered by why it died: kept a while longer for that.
    await sql`DELETE FROM dead_tokens WHERE expires_at <= ${now - 86_400_000}`
  })
}
