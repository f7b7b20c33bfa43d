// Two versions of the one file, built and signed, for the tests of upgrades. The second one is version
// 99.0.0, and has a migration more, which the first one can do without.
import { generateKeyPairSync } from 'node:crypto'
import { chmod, cp, mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { appFolder, ensureApp } from '../../../scripts/app-build.mjs'
import { copySources } from '../../../scripts/copy-sources.ts'
import { hashOf } from '../../../scripts/relay-build/build.ts'
import { compile } from '../../../scripts/relay-build/compile.ts'
import { signRelease } from '../../../scripts/relay-build/sign.ts'
import { ownTarget, run, withBunOf } from '../../../scripts/relay-build/targets.ts'

/** What is built. */
export interface Versions {
  /** The folder of all, which the test removes. */
  readonly root: string
  /** The name of the file for this machine. */
  readonly name: string
  /** The folder of this version. */
  readonly former: string
  /** The folder of version 99.0.0. */
  readonly next: string
  /** Signs the file of a folder, after it wrote its hash. @param file its name, if it is another one */
  sign(folder: string, file?: string): Promise<void>
  /** A signed folder with a shell script instead of the file. */
  script(text: string): Promise<string>
}

/** Builds and signs both. */
export async function buildTwoVersions(): Promise<Versions> {
  const root = await mkdtemp(join(tmpdir(), 'sotto-upgrade-'))
  const [former, next] = [join(root, 'former'), join(root, 'next')]
  const target = await ownTarget()
  const name = `sotto-${target.name}`
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const keyFile = join(root, 'key.pem')
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  await Bun.write(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }))

  const copy = join(root, 'sources')
  ensureApp()
  await copySources(copy)
  await cp(appFolder, join(copy, 'packages/web/dist'), { recursive: true })
  await makeNewer(copy)
  const release = { target: target.name, publicKey: pem }
  await withBunOf(target, async (program) => {
    for (const folder of [former, next]) await mkdir(folder)
    await compile(program, join(former, name), release)
    const words = [program, join(next, name), release].map((word) => JSON.stringify(word))
    const script = `(await import('./scripts/relay-build/compile.ts')).compile(${words})`
    await run([process.execPath, '-e', script], copy)
  })

  const sign = async (folder: string, file = name): Promise<void> => {
    await Bun.write(join(folder, 'SHA256SUMS'), `${await hashOf(join(folder, file))}  ${file}\n`)
    await signRelease(folder, keyFile)
  }
  for (const folder of [former, next]) await sign(folder)
  return {
    ...{ root, name, former, next, sign },
    script: async (text) => {
      const folder = await mkdtemp(join(root, 'script-'))
      await Bun.write(join(folder, name), `#!/bin/sh\n${text}\n`)
      await chmod(join(folder, name), 0o755)
      await sign(folder)
      return folder
    },
  }
}

/** Makes the sources of a checkout those of a later version. */
async function makeNewer(copy: string): Promise<void> {
  for (const name of ['cli', 'relay'])
    await change(join(copy, `packages/${name}/package.json`), /("version": )"[^"]+"/, '$1"99.0.0"')
  const storage = join(copy, 'packages/relay/src/storage')
  await mkdir(join(storage, 'migrations'), { recursive: true })
  await Bun.write(
    join(storage, 'migrations/later.ts'),
    `export const later = () => ['CREATE TABLE later (number BIGINT NOT NULL)']\n`,
  )
  const list = join(storage, 'migrations.ts')
  await change(list, /new Set\(\[/, 'new Set([later, ')
  await change(list, /,\n\]\n/, ',\n  later,\n]\n')
  await change(list, /^import/m, "import { later } from './migrations/later.ts'\nimport")
}

async function change(file: string, what: RegExp, by: string): Promise<void> {
  const text = await Bun.file(file).text()
  if (!what.test(text)) throw new Error(`${file} does not contain ${what}`)
  await Bun.write(file, text.replace(what, by))
}
