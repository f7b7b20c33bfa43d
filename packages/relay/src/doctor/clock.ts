// Checks the clock: against the database and the relay's records, and whether a time service keeps it.
import { FFIType, ptr } from 'bun:ffi'
import { openCLibrary } from '../operations/c-library.ts'
import { isExpiryStopped } from '../operations/clock-trust.ts'
import { newestWrite } from '../operations/write-probe.ts'
import type { ReadStorage } from '../storage/storage.ts'
import { type Finding, findingsOf } from './finding.ts'
import type { Patient } from './patient.ts'

const MOST_DIFFERENCE_MS = 60_000
/** The system's record of its clock (`struct timex`): its size at most, and where its status is. */
const [TIMEX_BYTES, STATUS_AT] = [256, 40]
const STA_UNSYNC = 0x40
const SET_IT = 'set the clock right and let a time service keep it so (timedatectl set-ntp true)'

export async function checkClock({ clock, storage }: Patient): Promise<readonly Finding[]> {
  const { ok, warning, failed } = findingsOf('clock')
  if (storage) {
    const newest = await newestWrite(storage)
    const aheadMs = newest === undefined ? 0 : newest - clock.now()
    if (aheadMs > MOST_DIFFERENCE_MS)
      return [failed(`it is ${minutes(aheadMs)} behind the time at which a relay last wrote`, SET_IT)]
    const differenceMs = await differenceToDatabase(storage, clock.now())
    if (Math.abs(differenceMs) > MOST_DIFFERENCE_MS)
      return [failed(`it differs from that of PostgreSQL by ${minutes(Math.abs(differenceMs))}`, SET_IT)]
    if (await isExpiryStopped(storage))
      return [failed('it jumped, so nothing expires', `${SET_IT}, then run sotto resume-expiry`)]
  }
  if (isSynchronized() === false)
    return [
      warning(
        'the system says that nothing keeps it right',
        'let a time service do that (timedatectl set-ntp true)',
      ),
    ]
  return [ok(new Date(clock.now()).toISOString())]
}

function minutes(ms: number): string {
  return `${Math.round(ms / 60_000)} minutes`
}

async function differenceToDatabase({ engine, sql }: ReadStorage, now: number): Promise<number> {
  if (engine.dialect === 'sqlite') return 0
  const [row] = await sql<{ at: number }>`
    SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS at`
  return row ? row.at - now : 0
}

/** Whether the system's clock follows a time service; undefined if the system does not say. */
function isSynchronized(): boolean | undefined {
  const library = openCLibrary({ adjtimex: { args: [FFIType.ptr], returns: FFIType.i32 } })
  if (!library) return undefined
  const record = new Uint8Array(TIMEX_BYTES) // All zeros: it only reads.
  if (library.symbols.adjtimex(ptr(record)) < 0) return undefined
  return (new DataView(record.buffer).getInt32(STATUS_AT, true) & STA_UNSYNC) === 0
}
