// A folder as the place of files.
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { isMissing, sizeIfExists, syncFile, writePiece } from '../media/files.ts'
import { DATABASE_FILE, lockFolder } from '../storage/sqlite.ts'
import { AbsentFile, BackupError, backupStep } from './backup-error.ts'
import type { BackupPlace, Pieces } from './backup-place.ts'
import { isThere, UNFINISHED } from './database-copy.ts'

const PIECE_BYTES = 256 * 1024

/** A folder of files. A file that is being written has a name that ends in `.unfinished`. */
export class FolderPlace implements BackupPlace {
  readonly #folder: string
  /** Where names have changed since the last flush. */
  readonly #changed = new Set<string>()
  #lock: Disposable | undefined

  constructor(folder: string) {
    this.#folder = folder
  }

  /**
   * Opens a folder to add a backup to it. The folder is made if its parent exists, is locked, and loses what
   * a backup that was killed has left.
   * @throws BackupError if it cannot be written, or is the data folder of a relay
   * @throws StorageInUse if another backup uses it
   */
  static async openToWrite(folder: string): Promise<FolderPlace> {
    const place = new FolderPlace(folder)
    await backupStep(`cannot write ${folder}`, async () => {
      if (!isThere(folder)) await mkdir(folder, { mode: 0o700 })
      if (isThere(join(folder, DATABASE_FILE)))
        throw new BackupError(`${folder} holds the store of a relay; choose another folder`)
      place.#lock = lockFolder(folder, 'backup')
      for (const file of await readdir(folder, { recursive: true }))
        if (file.endsWith(UNFINISHED)) await rm(join(folder, file), { force: true })
    })
    return place
  }

  [Symbol.dispose](): void {
    this.#lock?.[Symbol.dispose]()
  }

  list(): Promise<string[]> {
    return backupStep(`cannot read ${this.#folder}`, () => readdir(this.#folder))
  }

  listAll(): Promise<string[]> {
    return backupStep(`cannot read ${this.#folder}`, async () => {
      const entries = await readdir(this.#folder, { recursive: true, withFileTypes: true })
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => relative(this.#folder, join(entry.parentPath, entry.name)))
    })
  }

  sizeOf(file: string): Promise<number | undefined> {
    const path = this.pathOf(file)
    return backupStep(`cannot read ${path}`, () => sizeIfExists(path))
  }

  read(file: string): Pieces {
    return readFile(this.pathOf(file))
  }

  async write(file: string, pieces: Pieces): Promise<void> {
    const path = this.pathOf(file)
    await backupStep(`cannot write ${path}`, async () => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      const unfinished = `${path}${UNFINISHED}`
      try {
        await writeFile(unfinished, pieces)
        await rename(unfinished, path)
      } finally {
        await rm(unfinished, { force: true })
      }
      this.#changed.add(dirname(path)).add(this.#folder)
    })
  }

  async remove(file: string): Promise<void> {
    const path = this.pathOf(file)
    await backupStep(`cannot remove ${path}`, () => rm(path, { force: true }))
    this.#changed.add(dirname(path))
  }

  async flush(): Promise<void> {
    await backupStep(`cannot write ${this.#folder}`, async () => {
      for (const folder of this.#changed) await syncFile(folder)
      this.#changed.clear()
    })
  }

  pathOf(file: string): string {
    return join(this.#folder, file)
  }
}

/**
 * Reads a file.
 * @throws AbsentFile if there is none, and BackupError if it cannot be read
 */
export async function* readFile(path: string): Pieces {
  const reading = `cannot read ${path}`
  const handle = await backupStep(reading, () => open(path)).catch((error) => {
    const isAbsent = error instanceof BackupError && isMissing(error.cause)
    throw isAbsent ? new AbsentFile(error.message, { cause: error }) : error
  })
  try {
    for (;;) {
      const buffer = new Uint8Array(PIECE_BYTES)
      const { bytesRead } = await backupStep(reading, () => handle.read(buffer, 0, PIECE_BYTES))
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await handle.close()
  }
}

/** Writes a file that only its owner can read, and waits until its bytes are on stable storage. */
export async function writeFile(path: string, pieces: Pieces): Promise<void> {
  const handle = await open(path, 'w', 0o600) // Backups contain the keys that sign tokens.
  try {
    let at = 0
    for await (const piece of pieces) {
      await writePiece(handle, piece, at)
      at += piece.byteLength
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
}
