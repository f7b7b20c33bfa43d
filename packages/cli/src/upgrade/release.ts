// What was built and signed: a file, the hashes beside it, and the signature of the hashes.
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CommandError } from '../command.ts'

/** A file that is signed. */
export interface SignedFile {
  readonly path: string
  /** What it is called in the list of hashes, such as `sotto-linux-x64`, whatever it is called here. */
  readonly name: string
  /** Of the whole file, in hexadecimal. */
  readonly sha256: string
}

/**
 * Finds the signed file that a person names, and checks signature and hash. Nothing of it is run.
 * @param path the file, or the folder that contains the one for `target`
 * @param target the system that a folder's file is for
 * @param publicKey the key (PEM) of who signed
 * @throws CommandError in one sentence if anything is missing or wrong
 */
export async function checkSignedFile(
  path: string,
  { target, publicKey }: { target: string; publicKey: string },
): Promise<SignedFile> {
  const key = keyOf(publicKey)
  const found = await stat(path).catch(() => undefined)
  if (!found) throw new CommandError(`there is no ${path}`)
  const file = found.isDirectory() ? join(path, `sotto-${target}`) : path
  const list = join(dirname(file), 'SHA256SUMS')
  const [hashes, signature] = [await bytesOf(list), await bytesOf(`${list}.sig`)]
  if (!verify(null, hashes, key, signature))
    throw new CommandError(`${list}.sig is no signature of ${list} by the key; do not run these files`)
  const sha256 = await sha256Of(file)
  const line = new TextDecoder()
    .decode(hashes)
    .split('\n')
    .find((each) => each.startsWith(`${sha256}  `))
  if (line === undefined)
    throw new CommandError(`${file} is not one of the files that ${list} lists; fetch it again`)
  return { path: file, name: basename(line.slice(sha256.length + 2)), sha256 }
}

/** The SHA-256 of a file, in hexadecimal. @throws CommandError if it cannot be read */
export async function sha256Of(path: string): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256')
  try {
    for await (const chunk of Bun.file(path).stream()) hasher.update(chunk)
  } catch (error) {
    throw unreadable(path, error)
  }
  return hasher.digest('hex')
}

function keyOf(pem: string): KeyObject {
  try {
    const key = createPublicKey(pem)
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch {
    // Said below.
  }
  throw new CommandError('the public key is no Ed25519 key in PEM')
}

async function bytesOf(path: string): Promise<Uint8Array> {
  try {
    return await Bun.file(path).bytes()
  } catch (error) {
    throw unreadable(path, error)
  }
}

function unreadable(path: string, error: unknown): CommandError {
  const code = error instanceof Error && 'code' in error ? ` (${error.code})` : ''
  return new CommandError(`${path} cannot be read${code}`)
}
