// sotto verify and npm run sign: what is signed, and what is refused, in one sentence each.
import { afterEach, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { appendFile, mkdtemp, rename, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashOf } from '../../../scripts/relay-build/build.ts'
import { signRelease } from '../../../scripts/relay-build/sign.ts'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { expectRefused, run, sotto } from './run-sotto.ts'

const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
})

/** A folder with a file of 64 kB, signed by a new key. */
async function signedFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-verify-'))
  folders.push(folder)
  const file = join(folder, 'sotto-linux-x64')
  await Bun.write(file, crypto.getRandomValues(new Uint8Array(65_536)))
  await Bun.write(join(folder, 'SHA256SUMS'), `${await hashOf(file)}  sotto-linux-x64\n`)
  const key = await keyPair(folder, 'key')
  await signRelease(folder, key.privateFile)
  return { folder, file, ...key }
}

async function keyPair(folder: string, name: string) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const [privateFile, publicFile] = [join(folder, `${name}.pem`), join(folder, `${name}.pub.pem`)]
  await Bun.write(privateFile, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  await Bun.write(publicFile, publicKey.export({ type: 'spki', format: 'pem' }))
  return { privateFile, publicFile }
}

test('a file is what was signed, under any name, and OpenSSL says the same', async () => {
  const { folder, file, publicFile } = await signedFolder()
  const renamed = join(folder, 'new version')
  await rename(file, renamed)
  const { code, output } = await sotto('verify', renamed, '--public-key', publicFile)
  expect([code, output]).toEqual([
    0,
    `${renamed} is sotto-linux-x64, signed. SHA-256 ${await hashOf(renamed)}\n`,
  ])
  const words = ['pkeyutl', '-verify', '-pubin', '-inkey', publicFile, '-rawin', '-in', 'SHA256SUMS']
  const openssl = Bun.spawnSync(['openssl', ...words, '-sigfile', 'SHA256SUMS.sig'], { cwd: folder })
  expect(openssl.exitCode).toBe(0)
})

test('a changed or truncated file, changed hashes, another key and missing parts are refused', async () => {
  const { folder, file, publicFile } = await signedFolder()
  const verify = (key = publicFile, path = file) => sotto('verify', path, '--public-key', key)
  const list = join(folder, 'SHA256SUMS')
  const other = await keyPair(folder, 'other')
  const badSignature = `${list}.sig is no signature of ${list} by the key; do not run these files`
  expectRefused(await verify(other.publicFile), badSignature)
  expectRefused(await verify(other.privateFile.replace('other', 'none')), `${folder}/none.pem cannot be read`)
  expectRefused(await verify(list), 'the public key is no Ed25519 key in PEM')
  expectRefused(await verify(publicFile, join(folder, 'none')), `there is no ${folder}/none`)
  expectRefused(
    await sotto('verify', file),
    'this program was built without a public key; name one by --public-key',
  )

  const lastByte = (await Bun.file(file).bytes()).at(-1)
  await truncate(file, 65_535)
  const badFile = `${file} is not one of the files that ${list} lists; fetch it again`
  expectRefused(await verify(), badFile)
  await appendFile(file, lastByte === 'x'.charCodeAt(0) ? 'y' : 'x')
  expectRefused(await verify(), badFile)

  // An attacker who changes the file can change the hashes, but not sign them.
  await Bun.write(list, `${await hashOf(file)}  sotto-linux-x64\n`)
  expectRefused(await verify(), badSignature)
  await Bun.write(`${list}.sig`, '')
  expectRefused(await verify(), badSignature)
  await rm(`${list}.sig`)
  expectRefused(await verify(), `${list}.sig cannot be read (ENOENT)`)
})

test('what is not what was built is not signed, nor by another kind of key', async () => {
  const { folder, file, privateFile, publicFile } = await signedFolder()
  expect(String(await failureOf(signRelease(folder, publicFile)))).toBe(
    `Error: ${publicFile} contains no such Ed25519 key in PEM`,
  )
  await appendFile(file, 'x')
  const signed = await run([join(import.meta.dir, '../../../scripts/sign.ts'), '--key', privateFile, folder])
  expect(signed).toEqual({
    code: 1,
    output: '',
    errors: `${file} is not the file of which SHA256SUMS has the hash; build it again\n`,
  })
})
