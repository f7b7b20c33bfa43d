// The relay under test: a real process with its own disk, and the fault-injecting disk layer if the machine
// allows it.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RelayProcess, startRelay } from '@sotto/relay/testing'
import { type OwnPostgresServer, startOwnPostgres } from '../../packages/relay/test/postgres-server.ts'
import { mountSmallDisk, type SmallDisk } from '../../packages/relay/test/small-disk.ts'
import { Disk } from './disk.ts'

export type Engine = 'sqlite' | 'postgres'

/** The target of a round's faults. */
export interface Target {
  readonly relay: RelayProcess
  readonly port: number
  /** The disk layer, if any. */
  readonly disk: Disk | undefined
  /** The small file system that holds the data and can be filled up, if any. */
  readonly smallDisk: SmallDisk | undefined
  readonly postgres: OwnPostgresServer | undefined
  /** The relay's settings; operator commands use the same ones. */
  readonly env: Readonly<Record<string, string>>
  /** The faults that are not possible on this machine, and why. */
  readonly missing: readonly string[]
  remove(): Promise<void>
}

const SMALL_DISK_MIB = 96

/** How long an undelivered message is kept. */
export const MESSAGE_LIFE_MS = 86_400_000

// Small windows, so that a few messages make a slow reader and silence is noticed within a round. Short
// lives, so that one day expires messages, while sent ids, which live for at least 90 days, outlive the
// round.
const SETTINGS = {
  LOG_LEVEL: 'error',
  LIMIT_IDLE_SECONDS: '8',
  LIMIT_FRAME_BYTES: '65536',
  LIMIT_WINDOW_BYTES: '16384',
  LIMIT_OUTBOUND_BYTES: '262144',
  LIMIT_MAILBOX_MESSAGES: '100000',
  LIMIT_MAILBOX_RETRACTIONS: '100000',
  LIMIT_SENT_IDS_PER_DAY: '100000000',
  LIMIT_MESSAGE_LIFE_DAYS: '1',
  // Of the small disk, so that only the fault makes it full, and not the log of a busy round.
  DISK_RESERVE_BYTES: '2097152',
}

/** @param start starts the relay: the real one, or a mutant */
export async function prepareTarget(engine: Engine, start: typeof startRelay): Promise<Target> {
  const scratch = mkdtempSync(join(tmpdir(), 'sotto-faults-'))
  const missing: string[] = []
  const postgres = engine === 'postgres' ? await startOwnPostgres() : undefined
  if (postgres) missing.push('no power cuts and no disks that fail: PostgreSQL has its own disk')
  const smallDisk = postgres ? undefined : await mount(missing)
  const folder = smallDisk?.folder ?? join(scratch, 'data')
  mkdirSync(folder, { recursive: true })
  const disk = Disk.prepare(folder, scratch)
  if (typeof disk === 'string')
    missing.push(`no power cuts, slow disk, jumping clock or passing time: ${disk}`)
  const layer = typeof disk === 'string' ? undefined : disk
  let relay: RelayProcess | undefined
  const clear = (): void => rmSync(scratch, { recursive: true, force: true })
  // If this program fails, nothing else would end the relay.
  const ended = (): void => {
    if (relay) endNow(relay.pid)
    clear()
  }
  process.once('exit', ended)
  const remove = async (): Promise<void> => {
    process.off('exit', ended)
    await relay?.stop()
    layer?.close()
    await smallDisk?.remove()
    clear()
    await postgres?.stop()
  }
  try {
    const env: Record<string, string> = { ...SETTINGS, DATA_DIR: folder, ...layer?.env }
    const all = postgres ? { ...env, DATABASE_URL: await postgres.createDatabase() } : env
    relay = await start({ env: all })
    const port = Number(new URL(relay.url).port)
    return { relay, port, disk: layer, smallDisk, postgres, env: all, missing, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function mount(missing: string[]): Promise<SmallDisk | undefined> {
  try {
    return await mountSmallDisk(SMALL_DISK_MIB)
  } catch (error) {
    missing.push(`no full disk: ${error instanceof Error ? error.message.trim() : String(error)}`)
    return undefined
  }
}

function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}
