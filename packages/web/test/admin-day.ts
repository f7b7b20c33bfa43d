// A day of figures in the store of a relay that is not running.
import { Database } from 'bun:sqlite'
import { join } from 'node:path'

const MINUTES = 1440
/** The relay did not run from the one to the other, in minutes before now. */
const ABSENCE = { from: 500, to: 440 }

/** Writes figures of the day before now: times with few and with many people, and an hour without a relay. */
export function writeDay(dataDir: string, nowMs: number): void {
  const database = new Database(join(dataDir, 'sotto.db'))
  const minute = Math.floor(nowMs / 60_000)
  const insert =
    database.prepare(`INSERT OR REPLACE INTO day_figures (minute, connections, messages, registrations,
    ack_us, database_bytes, media_bytes, errors, refusals) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  database.transaction(() => {
    for (let ago = MINUTES - 1; ago > 0; ago--) {
      if (ago < ABSENCE.from && ago > ABSENCE.to) continue
      const done = MINUTES - ago
      const people = 1 + Math.sin((done / MINUTES) * 2 * Math.PI - 2)
      const chance = Math.abs((Math.sin(done * 12.9898) * 43_758.5453) % 1)
      const unrest = 0.85 + chance * 0.3
      insert.run(
        minute - ago,
        Math.round(20 + 180 * people),
        Math.round(300 * people * unrest),
        chance > 0.997 ? 2 : chance > 0.98 ? 1 : 0,
        Math.round(2500 * unrest + 4000 * people),
        40_000_000 + done * 9000,
        120_000_000 + done * 25_000,
        done === 900 ? 1 : 0,
        Math.round(3 * unrest) + (done > 700 && done < 730 ? 25 : 0),
      )
    }
  })()
  database.close()
}
