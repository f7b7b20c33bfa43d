// The disk under a relay: compiles disk.c, controls it while the relay runs, and discards unsynced data at a
// power cut, or only some of it, as a real disk does.
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from './random.ts'

const SECTOR = 512
const CONTROL_BYTES = 4096
/** The sync time of a good disk, long enough for a kill during a sync. */
const USUAL_SYNC_MS = 1

/** The layer, ready for use under a process. */
export class Disk {
  /** The environment variables of the process. */
  readonly env: Readonly<Record<string, string>>
  readonly #folder: string
  readonly #undo: string
  readonly #control: number
  #offsetMs = 0
  #passedMs = 0

  private constructor(folder: string, { undo, library, control }: Record<string, string>) {
    this.#folder = folder
    this.#undo = undo ?? ''
    this.env = {
      LD_PRELOAD: library ?? '',
      FAULTS_DATA: folder,
      FAULTS_UNDO: undo ?? '',
      FAULTS_CONTROL: control ?? '',
    }
    this.#control = openSync(control ?? '', 'r+')
  }

  /**
   * @param folder the process's data
   * @param scratch the layer's own files
   * @returns the layer, or why it is not possible on this machine
   */
  static prepare(folder: string, scratch: string): Disk | string {
    const compiler =
      process.platform === 'linux' ? (Bun.which('cc') ?? Bun.which('gcc') ?? Bun.which('clang')) : null
    if (compiler === null) return 'no C compiler (on Debian: apt-get install gcc libc6-dev)'
    const library = join(scratch, 'disk.so')
    const source = join(import.meta.dir, 'disk.c')
    const words = ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl', '-pthread']
    const { status, stderr } = spawnSync(compiler, words, { encoding: 'utf8' })
    if (status !== 0) return `bench/faults/disk.c does not compile here: ${stderr.slice(0, 300)}`
    const undo = join(scratch, 'undo')
    spawnSync('mkdir', ['-p', undo])
    const control = join(scratch, 'control')
    writeFileSync(control, Buffer.alloc(CONTROL_BYTES))
    const disk = new Disk(folder, { undo, library, control })
    disk.slowDown()
    return disk
  }

  /** Sets the duration of every sync; without an argument, the usual one. */
  slowDown(syncMs = USUAL_SYNC_MS): void {
    this.#steer(8, syncMs)
  }

  /** Sets the offset of the process's clock from the machine's. */
  moveClock(offsetMs: number): void {
    this.#offsetMs = offsetMs
    this.#steer(0, offsetMs)
  }

  /** Lets time pass at once, permanently: both clocks move ahead, as they do during a wait. */
  letPass(ms: number): void {
    this.#passedMs += ms
    this.#steer(16, this.#passedMs)
  }

  /** The time of the process's clock. */
  get clockMs(): number {
    return Date.now() + this.#offsetMs + this.#passedMs
  }

  /** The clock's offset from the correct time. */
  get clockIsOffByMs(): number {
    return this.#offsetMs
  }

  /** Makes all written data durable, as if it was written long ago. The process must be dead. */
  settle(): void {
    for (const file of readdirSync(this.#undo)) rmSync(join(this.#undo, file))
  }

  /**
   * Discards data that was written but not synced. The process must be dead.
   * @param random chooses what survives: a disk writes in any order and may be cut off in the middle
   */
  cutPower(random: Random): { survival: number; unsynced: string[] } {
    const survival = random.pick([0, 0, 0.1, 0.5, 0.9])
    const unsynced: string[] = []
    for (const name of readdirSync(this.#folder)) {
      if (name.endsWith('-shm')) rmSync(join(this.#folder, name))
    }
    for (const file of readdirSync(this.#undo)) {
      const name = file.replace(/\.(?:undo|new)$/, '')
      if (file.endsWith('.new')) this.#forgetName(name, random.chance(survival))
      else if (this.#forgetContent(name, random, survival)) unsynced.push(name)
    }
    return { survival, unsynced }
  }

  close(): void {
    closeSync(this.#control)
  }

  // A new file may be missing if its folder was not synced after its creation.
  #forgetName(name: string, survives: boolean): void {
    if (!survives) rmSync(join(this.#folder, name), { force: true })
    rmSync(join(this.#undo, `${name}.new`))
  }

  #forgetContent(name: string, random: Random, survival: number): boolean {
    const path = join(this.#folder, name)
    const undoPath = join(this.#undo, `${name}.undo`)
    const undo = readFileSync(undoPath)
    const written = readIfThere(path)
    if (undo.length < 8 || !written) return false
    const kept = forget(written, undo, { survives: () => random.chance(survival) })
    if (!kept) return false
    writeFileSync(path, kept)
    writeFileSync(undoPath, '')
    return true
  }

  #steer(at: number, ms: number): void {
    const value = Buffer.alloc(8)
    value.writeBigInt64LE(BigInt(Math.round(ms * 1000)))
    writeSync(this.#control, value, 0, 8, at)
  }
}

/**
 * The content of a file after a power cut.
 * @param written the content in the kernel's cache
 * @param undo its durable size, and the old content of every page changed since the last sync (disk.c)
 * @returns undefined if nothing was changed
 */
export function forget(
  written: Buffer,
  undo: Buffer,
  { survives }: { survives: () => boolean },
): Buffer | undefined {
  if (undo.length < 8) return undefined
  const durableSize = Number(undo.readBigInt64LE(0))
  const kept = Buffer.alloc(Math.max(durableSize, written.length))
  written.copy(kept)
  let size = durableSize
  const isCut = written.length < durableSize && survives()
  for (let at = 8; at + 16 <= undo.length; ) {
    const [offset, length] = [Number(undo.readBigInt64LE(at)), Number(undo.readBigInt64LE(at + 8))]
    const old = undo.subarray(at + 16, at + 16 + length)
    // The process was killed during this write, so the page itself was not changed.
    if (old.length < length) break
    at += 16 + length
    for (let sector = 0; sector < 4096; sector += SECTOR) {
      const start = offset + sector
      if (start >= kept.length) break
      if (start < written.length && survives()) {
        size = Math.max(size, Math.min(start + SECTOR, written.length))
        continue
      }
      kept.fill(0, start, Math.min(start + SECTOR, kept.length))
      old.subarray(sector, sector + SECTOR).copy(kept, start)
    }
  }
  return kept.subarray(0, isCut ? written.length : size)
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}
