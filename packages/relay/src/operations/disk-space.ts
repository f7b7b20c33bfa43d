// Watches the free space of the relay's disks, and decides what the relay still takes: everything, or no more
// media, registrations, channels, posts and push subscriptions, or nothing new at all
// (docs/decisions/0023-reserves-of-free-space.md).
import { type Adds, ProtocolError } from '@sotto/protocol'
import type { Storage } from '../storage/storage.ts'
import type { Clock } from './clock.ts'
import { type Disk, readDisk } from './disks.ts'
import type { Log, LogFields } from './log.ts'
import { type Reserves, reservesOf, type SpaceConfig } from './space-settings.ts'
import { WriteProbe } from './write-probe.ts'

const EVERY_MS = 1000
/** The free space has to exceed a reserve by this factor before a state ends, so that it does not flap. */
const CLEARLY = 1.1
/** After a write failed because the disk is full, it is not tried again below this. */
const LEAST_FREE_BYTES = 1024 * 1024
/** The log says that media are accepted again after so long without a refusal, so that it stays short. */
const QUIET_MS = 10_000
/** A request is tried again by a person, or by an upload that waits. */
const REQUEST_RETRY_MS = 30_000
/** A message is tried again by the client, and is small. */
const FRAME_RETRY_MS = 3000

/** `short`: what adds much is refused; `full`: everything that adds anything is refused. */
export type SpaceState = 'ok' | 'short' | 'full'

/** What the mailbox needs of {@link DiskSpace}. */
export interface RoomForMessages {
  /** Whether new messages are taken. A variable, because every batch reads it. */
  readonly takesNew: boolean
  /** Call it when a write failed because the disk is full. */
  reportFull(): void
}

export interface DiskSpaceParts {
  readonly storage: Storage
  readonly config: SpaceConfig
  /** The folder of the database; undefined if the relay cannot see the database's disk. */
  readonly databaseFolder: string | undefined
  /** The folder that media are written to, perhaps only until an object store has them. */
  readonly mediaFolder: string
  /** How many bytes the media folder keeps. */
  readonly mediaBytes: () => Promise<number>
  readonly clock: Clock
  readonly log: Log
}

export class DiskSpace implements RoomForMessages {
  readonly #parts: DiskSpaceParts
  readonly #probe: WriteProbe
  #state: SpaceState = 'ok'
  takesNew = true
  /**
   * How many writes failed because the disk is full, and how many of them are no longer a reason to refuse
   * anything.
   */
  #failedWrites = 0
  #forgivenWrites = 0
  #mediaDisk: Disk | undefined
  /** Bytes of media that may still be written by running requests. */
  #heldBytes = 0
  /** Bytes of media that were written by requests that ended since the disk was last read. */
  #endedBytes = 0
  /** Whether the log says that media are refused, and the most bytes that a refused request had. */
  #isMediaRefused = false
  #mostRefusedBytes = 0
  #refusedMediaAt = 0
  #timer: ReturnType<typeof setInterval> | undefined
  #look: Promise<void> | undefined
  #reports = Promise.resolve()

  constructor(parts: DiskSpaceParts) {
    this.#parts = parts
    this.#probe = new WriteProbe(parts)
  }

  /** Reads the disks now, and once a second from now on. */
  async start(everyMs = EVERY_MS): Promise<void> {
    await this.look()
    this.#timer = setInterval(() => void this.look(), everyMs)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#look
    await this.#reports
  }

  get state(): SpaceState {
    return this.#state
  }

  /** The size of the disk of media; undefined if it is unknown. */
  get mediaDiskBytes(): number | undefined {
    return this.#mediaDisk?.totalBytes
  }

  /** @throws ProtocolError `RELAY_FULL` while the relay refuses requests that add this much */
  check(adds: Adds): void {
    if (this.#state === 'full' || (this.#state === 'short' && adds === 'much')) throw requestRefused()
  }

  /**
   * Runs `work`, which writes at most so many bytes of media. Until it ends, all of them count as used; then
   * those that it has written. Work that fails leaves nothing.
   * @throws ProtocolError `RELAY_FULL` if the disk of media has no space for them above the reserve
   */
  async holdMedia<T extends { readonly bytes: number }>(most: number, work: () => Promise<T>): Promise<T> {
    this.checkMedia(most)
    this.#heldBytes += most
    try {
      const written = await work()
      this.#endedBytes += written.bytes
      return written
    } finally {
      this.#heldBytes -= most
    }
  }

  /**
   * @throws ProtocolError `RELAY_FULL` if the disk of media has no space for these bytes above the reserve
   */
  checkMedia(bytes: number): void {
    if (this.#mediaRoom() >= bytes) return
    this.#mostRefusedBytes = Math.max(this.#mostRefusedBytes, bytes)
    this.#refusedMediaAt = this.#parts.clock.monotonic()
    if (!this.#isMediaRefused)
      this.#report(this.#parts.mediaFolder, (log, fields) => log.warn('media_refused', fields))
    this.#isMediaRefused = true
    throw requestRefused()
  }

  reportFull(): void {
    this.#failedWrites += 1
    this.#enter('full')
  }

  /** Tries to write to the store, once a second at most. Rejects as a write does. */
  tryWrite(): Promise<void> {
    return this.#probe.attempt()
  }

  /** Reads the disks, and changes the state if it must. */
  look(): Promise<void> {
    this.#look ??= this.#readAll()
      .catch((error) => this.#parts.log.error('disk_check_failed', { error }))
      .finally(() => {
        this.#look = undefined
      })
    return this.#look
  }

  async #readAll(): Promise<void> {
    const { databaseFolder, mediaFolder } = this.#parts
    const endedBefore = this.#endedBytes
    this.#mediaDisk = await readDisk(mediaFolder)
    this.#endedBytes -= endedBefore
    const database = databaseFolder === undefined ? undefined : await readDisk(databaseFolder)
    const byNumbers = database ? await this.#stateOn(database) : 'ok'
    const failed = this.#failedWrites
    if (failed > this.#forgivenWrites && byNumbers !== 'full' && (await this.#probe.showsSpace()))
      this.#forgivenWrites = failed
    this.#enter(this.#failedWrites > this.#forgivenWrites ? 'full' : byNumbers)
    this.#checkMediaAgain()
  }

  // Deleted rows leave free pages in SQLite's file, which new rows use before the file grows. Without them
  // the relay would stay full although everything in it was deleted. But each commit needs space in the log.
  async #stateOn(disk: Disk): Promise<SpaceState> {
    const { storage, config } = this.#parts
    const { reserveBytes, lastReserveBytes } = reservesOf(config, disk.totalBytes)
    const room = disk.freeBytes + (await storage.size()).reusableBytes
    const hasFailed = this.#failedWrites > this.#forgivenWrites
    const least = hasFailed ? Math.max(lastReserveBytes, LEAST_FREE_BYTES) : lastReserveBytes
    const last = least * (this.#state === 'full' ? CLEARLY : 1)
    if (room < last || disk.freeBytes < last / 4) return 'full'
    return room < reserveBytes * (this.#state === 'ok' ? 1 : CLEARLY) ? 'short' : 'ok'
  }

  #enter(state: SpaceState): void {
    if (state === this.#state) return
    this.#state = state
    this.takesNew = state !== 'full'
    const { databaseFolder } = this.#parts
    this.#report(databaseFolder, (log, fields) => {
      if (state === 'full') log.error('storage_full', fields)
      else if (state === 'short') log.warn('storage_short', fields)
      else log.info('storage_has_space', fields)
    })
  }

  #mediaRoom(): number {
    const disk = this.#mediaDisk
    if (!disk) return Number.POSITIVE_INFINITY
    const free = disk.freeBytes - this.#heldBytes - this.#endedBytes
    return free - this.#reservesOf(disk).reserveBytes
  }

  #checkMediaAgain(): void {
    const disk = this.#mediaDisk
    const clearly = disk ? this.#reservesOf(disk).reserveBytes * (CLEARLY - 1) : 0
    if (!this.#isMediaRefused || this.#mediaRoom() < this.#mostRefusedBytes + clearly) return
    if (this.#parts.clock.monotonic() - this.#refusedMediaAt < QUIET_MS) return
    this.#isMediaRefused = false
    this.#mostRefusedBytes = 0
    this.#report(this.#parts.mediaFolder, (log, fields) => log.info('media_accepted', fields))
  }

  #reservesOf(disk: Disk): Reserves {
    return reservesOf(this.#parts.config, disk.totalBytes)
  }

  // One after another, so that the lines have the order of the changes.
  #report(folder: string | undefined, write: (log: Log, fields: LogFields) => void): void {
    this.#reports = this.#reports.then(async () => write(this.#parts.log, await this.#holdings(folder)))
  }

  /** What holds the space of the disk that a folder is on; if it is undefined, only the database. */
  async #holdings(folder: string | undefined): Promise<LogFields> {
    const { storage, databaseFolder, mediaFolder, mediaBytes } = this.#parts
    try {
      const databaseBytes = (await storage.size()).bytes
      const disk = folder === undefined ? undefined : await readDisk(folder)
      if (!disk) return { databaseBytes }
      const isHere = async (other: string | undefined): Promise<boolean> =>
        other !== undefined && (await readDisk(other))?.device === disk.device
      const held = {
        ...((await isHere(mediaFolder)) ? { mediaBytes: await mediaBytes() } : {}),
        ...((await isHere(databaseFolder)) ? { databaseBytes } : {}),
      }
      const ours = (held.mediaBytes ?? 0) + (held.databaseBytes ?? 0)
      return { freeBytes: disk.freeBytes, ...held, otherBytes: Math.max(0, disk.usedBytes - ours) }
    } catch {
      return {} // The log's line matters more than its numbers.
    }
  }
}

/** The refusal of a message because the disk is full. */
export function frameRefused(): ProtocolError {
  return new ProtocolError('RELAY_FULL', { retryAfterMs: FRAME_RETRY_MS })
}

/** The refusal of a request because the disk is full. */
export function requestRefused(): ProtocolError {
  return new ProtocolError('RELAY_FULL', { retryAfterMs: REQUEST_RETRY_MS })
}
