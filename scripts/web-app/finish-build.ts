// What a build of the app needs besides Vite's files: the service worker with the list of all files, the
// version, and Brotli copies for servers that can send them.
import { createHash } from 'node:crypto'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { build, type Plugin } from 'vite'

const WEB = join(import.meta.dirname, '../../packages/web')
/** The names of what this file writes. The service worker is the only script without a hash in its name. */
const SERVICE_WORKER = 'service-worker.js'
const VERSION = 'version.json'

/** A file of the app. */
export interface AppFile {
  /** Relative to the app's address; with `/` on every system. */
  readonly path: string
  /** SHA-256, in base64 as in the `integrity` of scripts. */
  readonly hash: string
}

/** Finishes the build when Vite has written its files. */
export const finishedBuild: Plugin = {
  name: 'finished build',
  apply: 'build',
  async writeBundle({ dir }) {
    if (dir !== undefined) await finishBuild(dir)
  },
}

/** Writes the service worker, the version and the Brotli copies into a folder with the app. */
export async function finishBuild(folder: string): Promise<void> {
  for (const path of await pathsIn(folder))
    if (path.endsWith('.br') || path === SERVICE_WORKER || path === VERSION) await rm(join(folder, path))
  const files = await filesIn(folder)
  const worker = await compiledServiceWorker()
  const hash = hashOf([...files, { path: SERVICE_WORKER, hash: sha256(Buffer.from(worker)) }])
  const { version } = JSON.parse(await readFile(join(WEB, 'package.json'), 'utf8'))
  await writeFile(join(folder, VERSION), `${JSON.stringify({ version, hash })}\n`)
  const list = [...files, await fileIn(folder, VERSION)]
  const listed = `const VERSION=${JSON.stringify(hash)},FILES=${JSON.stringify(list)};\n${worker}`
  await writeFile(join(folder, SERVICE_WORKER), listed)
  for (const path of await pathsIn(folder)) {
    if (path.endsWith('.png')) continue // They are compressed.
    const bytes = await readFile(join(folder, path))
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
    await writeFile(join(folder, `${path}.br`), brotliCompressSync(bytes, { params }))
  }
}

/** All files of an app that browsers ask for, sorted by path. */
export async function filesIn(folder: string): Promise<AppFile[]> {
  const paths = (await pathsIn(folder)).filter((path) => !path.endsWith('.br'))
  return Promise.all(paths.map((path) => fileIn(folder, path)))
}

async function pathsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ parentPath, name }) => join(parentPath, name).slice(join(folder, sep).length))
    .map((path) => path.split(sep).join('/'))
    .sort()
}

async function fileIn(folder: string, path: string): Promise<AppFile> {
  return { path, hash: sha256(await readFile(join(folder, path))) }
}

/** SHA-256 in base64. */
export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64')
}

/** The hash of a whole app: SHA-256, in hex, of a line for each file. */
function hashOf(files: readonly AppFile[]): string {
  const lines = files.map(({ path, hash }) => `${hash}  ${path}\n`)
  return createHash('sha256').update(lines.join('')).digest('hex')
}

// A classic script, because not every browser takes modules as service workers.
async function compiledServiceWorker(): Promise<string> {
  const results = await build({
    root: WEB,
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    build: {
      write: false,
      target: 'es2023',
      lib: {
        entry: join(WEB, 'src/service-worker/service-worker.ts'),
        formats: ['iife'],
        name: 'serviceWorker',
        fileName: () => SERVICE_WORKER,
      },
    },
  })
  const [result] = Array.isArray(results) ? results : [results]
  const [chunk] = result && 'output' in result ? result.output : []
  if (chunk?.type !== 'chunk') throw new Error('the service worker was not built')
  return chunk.code
}
