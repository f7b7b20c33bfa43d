// Where backups are kept. The names of files in a place are relative, with slashes.
import { createHash } from 'node:crypto'

/** The bytes of a file, piece by piece. */
export type Pieces = AsyncIterable<Uint8Array<ArrayBuffer>>

/** A place of files that are written whole or not at all. Each of its methods throws BackupError. */
export interface BackupPlace extends Disposable {
  /** The names of the files at the top of the place. */
  list(): Promise<string[]>
  /** The names of all files, as they are now. */
  listAll(): Promise<string[]>
  /** The bytes of a file; undefined if there is none. */
  sizeOf(file: string): Promise<number | undefined>
  /** The bytes of a file, as they are read. */
  read(file: string): Pieces
  /** Writes a file, which has its name once it is whole. */
  write(file: string, pieces: Pieces): Promise<void>
  /** Removes a file, if it is there. */
  remove(file: string): Promise<void>
  /** Waits until everything that was written or removed is on stable storage. */
  flush(): Promise<void>
  /** What the operator calls a file of this place. */
  pathOf(file: string): string
}

/** A text in one piece. */
export async function* piecesOf(text: string): Pieces {
  yield new TextEncoder().encode(text)
}

/** Passes the pieces on, and tells their SHA-256 in hexadecimal at the end. */
export async function* summed(pieces: Pieces, tell: (sum: string) => void): Pieces {
  const hash = createHash('sha256')
  for await (const piece of pieces) {
    hash.update(piece)
    yield piece
  }
  tell(hash.digest('hex'))
}

/** Writes a file. @returns its SHA-256 in hexadecimal */
export async function writeSummed(place: BackupPlace, file: string, pieces: Pieces): Promise<string> {
  let sum = ''
  await place.write(
    file,
    summed(pieces, (told) => {
      sum = told
    }),
  )
  return sum
}
