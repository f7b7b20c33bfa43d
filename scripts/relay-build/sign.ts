// Signs the hashes of what was built, by Ed25519. The keys are PEM files, as `openssl genpkey` makes them.
// `openssl pkeyutl -verify -rawin` checks the signature.
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { join } from 'node:path'
import { hashOf } from './build.ts'

/**
 * Signs `SHA256SUMS` of a folder: writes the signature, 64 bytes, into `SHA256SUMS.sig`.
 * @param keyFile the private key
 * @throws Error if it is no such key, or a file of the list is missing or is not the one that was built
 */
export async function signRelease(folder: string, keyFile: string): Promise<void> {
  const key = await readKey(keyFile, createPrivateKey)
  const list = await Bun.file(join(folder, 'SHA256SUMS')).bytes()
  for (const line of new TextDecoder().decode(list).trim().split('\n')) {
    const [sha256, name = ''] = line.split('  ')
    const file = join(folder, name)
    if (!(await Bun.file(file).exists()) || (await hashOf(file)) !== sha256)
      throw new Error(`${file} is not the file of which SHA256SUMS has the hash; build it again`)
  }
  await Bun.write(join(folder, 'SHA256SUMS.sig'), sign(null, list, key))
}

/** The public key in a file, as PEM. @throws Error if there is none */
export async function readPublicKey(keyFile: string): Promise<string> {
  const text = await Bun.file(keyFile).text()
  if (text.includes('PRIVATE')) throw new Error(`${keyFile} contains a private key; give the public one`)
  return (await readKey(keyFile, createPublicKey)).export({ type: 'spki', format: 'pem' }).toString()
}

async function readKey(file: string, read: (text: string) => KeyObject): Promise<KeyObject> {
  const text = await Bun.file(file).text()
  const key = attempt(() => read(text))
  if (key?.asymmetricKeyType !== 'ed25519') throw new Error(`${file} contains no such Ed25519 key in PEM`)
  return key
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
