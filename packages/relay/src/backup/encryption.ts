// Encrypts backups to public keys, and decrypts them, in the format of age (https://age-encryption.org/v1).
// The library is imported late, because a relay does not need it.
import { createHash } from 'node:crypto'
import type { Decrypter } from 'age-encryption'
import { BackupError, DamagedFile } from './backup-error.ts'
import type { Pieces } from './backup-place.ts'
import { readFile } from './folder-place.ts'

/** What the name of an encrypted file ends in. */
export const ENCRYPTED = '.age'
const FIRST_LINE = 'age-encryption.org/v1\n'

/** Encrypts to one public key or several. */
export interface Encryption {
  encrypt(pieces: Pieces): Pieces
  /** How many bytes a file has when it is encrypted. */
  sizeOf(bytes: number): number
  /** A short name of the keys: files that were encrypted to other keys have another one. */
  readonly name: string
}

/** Decrypts with the keys of an operator. */
export interface Decryption {
  /**
   * @param path what the operator calls the file
   * @throws BackupError while it is read, if no key opens the file or it is damaged
   */
  decrypt(pieces: Pieces, path: string): Pieces
}

/** @throws BackupError for a key that is none */
export async function encryptTo(keys: readonly string[]): Promise<Encryption> {
  const { Encrypter } = await import('age-encryption')
  const encrypter = new Encrypter()
  for (const key of keys) {
    try {
      encrypter.addRecipient(key)
    } catch (cause) {
      throw new BackupError(`${key} is no public key of age`, { cause })
    }
  }
  const empty = await encrypter.encrypt(streamOf(nothing()))
  return {
    encrypt: async function* (pieces) {
      for await (const piece of await encrypter.encrypt(streamOf(pieces))) yield new Uint8Array(piece)
    },
    sizeOf: (bytes) => empty.size(bytes),
    name: createHash('sha256').update(keys.toSorted().join()).digest('hex').slice(0, 16),
  }
}

/**
 * @param identityFile a file of `age-keygen`: one secret key in a line, and lines that begin with #
 * @throws BackupError if it cannot be read or holds no key
 */
export async function decryptWith(identityFile: string): Promise<Decryption> {
  const decrypter = await readIdentities(identityFile)
  return {
    decrypt: async function* (pieces, path) {
      try {
        for await (const piece of await decrypter.decrypt(streamOf(pieces))) yield new Uint8Array(piece)
      } catch (cause) {
        if (cause instanceof BackupError) throw cause
        const isOther = cause instanceof Error && cause.message.startsWith('no identity matched')
        if (isOther) throw new BackupError(`no key of ${identityFile} opens ${path}`, { cause })
        throw new DamagedFile(`${path} is damaged`, { cause })
      }
    },
  }
}

/** Whether a file is encrypted, by its first line. */
export async function isEncrypted(path: string): Promise<boolean> {
  for await (const piece of readFile(path))
    return Buffer.from(piece).toString('latin1').startsWith(FIRST_LINE)
  return false
}

// Bun has no ReadableStream.from.
function streamOf(pieces: Pieces): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: async () => {
      await iterator.return?.()
    },
  })
}

async function* nothing(): Pieces {
  // An empty file.
}

async function readIdentities(file: string): Promise<Decrypter> {
  const { Decrypter } = await import('age-encryption')
  const decrypter = new Decrypter()
  const lines = (await textOf(readFile(file))).split('\n').map((line) => line.trim())
  const keys = lines.filter((line) => line !== '' && !line.startsWith('#'))
  try {
    if (keys.length === 0) throw new Error('empty')
    for (const key of keys) decrypter.addIdentity(key)
  } catch (cause) {
    // The message of the library may quote the key.
    throw new BackupError(`${file} holds no secret key of age (AGE-SECRET-KEY-1…)`, { cause })
  }
  return decrypter
}

/** The whole text of a file. */
export async function textOf(pieces: Pieces): Promise<string> {
  return Buffer.concat(await Array.fromAsync(pieces)).toString()
}
