// Compiles the command line, with relay and app, into one file that needs nothing beside it.
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { adminFolder, appFolder, ensureApp } from '../app-build.mjs'
import { ROOT } from '../client-package/entries.ts'
import { type Licence, licenceOf, packageFolder } from '../package-licences.ts'

/**
 * The program, and the threads it starts. They lie side by side in the file, so a thread is found by the
 * address beside the module that starts it.
 */
const ENTRIES = ['packages/cli/src/main.ts', 'packages/relay/src/storage/checkpoint-thread.ts']

/** What the file is called while it is compiled. The name is in its bytes. */
const NAME = 'sotto'

/**
 * Compiles the file.
 * @param program Bun's program for the system that it is for
 * @param file where to put it
 * @param release what it knows of itself: see `packages/cli/src/program.ts`
 * @returns the packages of others that are in it, Bun itself not counted
 */
export async function compile(
  program: string,
  file: string,
  release: { readonly target: string; readonly publicKey: string | undefined },
): Promise<readonly Licence[]> {
  ensureApp()
  const folder = await mkdtemp(join(dirname(file), '.building-'))
  try {
    // Only a bundle tells what is in it, and the file contains the licences of what is in it.
    const packages = await packagesInside()
    const licences = join(folder, 'licences.json')
    await Bun.write(licences, `${JSON.stringify([...(await ownLicences()), ...packages])}\n`)
    const releaseFile = join(folder, 'release.json')
    await Bun.write(releaseFile, `${JSON.stringify(release)}\n`)
    const compiled = join(folder, NAME)
    await Bun.build({
      ...bundle,
      compile: {
        outfile: compiled,
        executablePath: program,
        // The folder where somebody starts it changes nothing.
        autoloadDotenv: false,
        autoloadBunfig: false,
        assets: [appFolder, adminFolder, licences, releaseFile],
      },
    })
    await rename(compiled, file)
    return packages
  } finally {
    await rm(folder, { recursive: true })
  }
}

const bundle = {
  entrypoints: ENTRIES.map((path) => join(ROOT, path)),
  root: ROOT,
  naming: '[name].[ext]',
  target: 'bun',
  // Without comments, because Bun's name the folder of each module.
  minify: { whitespace: true },
  // The folder where it is built is no part of it. (Some libraries name their own folder.)
  define: { 'process.env.NODE_ENV': '"production"', __dirname: '"/"', __filename: '"/"' },
} as const

/** The licences of Sotto and of Bun, which runs it. */
async function ownLicences(): Promise<readonly Licence[]> {
  const { version } = await Bun.file(join(ROOT, 'packages/cli/package.json')).json()
  const [own, ofBun] = await Promise.all([
    Bun.file(join(ROOT, 'LICENSE')).text(),
    Bun.file(join(import.meta.dir, 'bun-licence.txt')).text(),
  ])
  return [
    { name: 'sotto', version, licence: 'Apache-2.0', text: own.trim() },
    { name: 'bun', version: Bun.version, licence: 'MIT, and those of its parts', text: ofBun.trim() },
  ]
}

/** The packages of others in the program and in the app, by name. */
async function packagesInside(): Promise<readonly Licence[]> {
  const { metafile } = await Bun.build({ ...bundle, metafile: true })
  if (!metafile) throw new Error('Bun does not say what is in the file')
  const folders = new Set(Object.keys(metafile.inputs).map((path) => packageFolder(resolve(path))))
  const ofProgram = await Promise.all([...folders].filter((folder) => folder !== undefined).map(licenceOf))
  const ofApp: readonly Licence[] = await Bun.file(join(appFolder, 'licences.json')).json()
  const byName = new Map([...ofProgram, ...ofApp].map((each) => [`${each.name}@${each.version}`, each]))
  // A package may be inside in two versions, and the bundle names them in any order.
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, licence]) => licence)
}
