// Carries packets between nodes by NOTIFY of the PostgreSQL that they share. NOTIFY takes a lock of the whole
// server when its transaction commits, so it has a connection of its own, and no transaction that keeps
// messages waits for it.
import { SQL } from 'bun'
import type { OpenCarrier } from './shared-bus.ts'

const CHANNEL = 'sotto'
/** PostgreSQL takes less than 8,000 bytes. */
const MOST_BYTES = 7999

/** Opens the carrier on the database at `url` (`postgres://…`). */
export function postgresCarrier(url: string): OpenCarrier {
  return async ({ onPacket, onAgain }) => {
    // A notification is worthless after a crash, so its commit waits for no disk.
    const sql = new SQL({ url, adapter: 'postgres', max: 1, connection: { synchronous_commit: 'off' } })
    try {
      const subscription = await sql.listen(CHANNEL, onPacket, onAgain)
      return {
        mostBytes: MOST_BYTES,
        send: async (packets) => {
          // A function of the list, in its order. All of them are one transaction.
          await sql`SELECT pg_notify(${CHANNEL}, packet) FROM json_array_elements_text(${JSON.stringify(packets)}::text::json) AS packet`
        },
        stop: async () => {
          await subscription.unlisten()
          await sql.close()
        },
      }
    } catch (error) {
      await sql.close()
      throw error
    }
  }
}
