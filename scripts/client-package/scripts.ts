// The scripts of the package: every module of ours and of the libraries it uses, one file each, in plain JavaScript.
import { join } from 'node:path'
import { build, type Plugin } from 'vite'
import { type Entry, ROOT } from './entries.ts'
import { packedWordList } from './word-list.ts'

/** Where the scripts lie in the package. */
const LIB = 'lib'

/** Where an entry's script lies in the package. */
export function scriptOf({ source }: Entry): string {
  return `${LIB}/${placeOf(source.slice(ROOT.length + 1).replace(/\.ts$/, ''))}.js`
}

/**
 * Builds the scripts into `folder`; answers the libraries among them. A file a module, so that bundlers leave out what is not
 * used file by file, and stacks and debuggers show the names of the source. Not minified: that is the application's part.
 */
export async function buildScripts(entries: readonly Entry[], folder: string): Promise<readonly string[]> {
  await build({
    root: ROOT,
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    plugins: [plainWorkerUrls, packedWordList],
    build: {
      target: 'esnext',
      outDir: join(folder, LIB),
      emptyOutDir: true,
      minify: false,
      lib: { entry: entries.map(({ source }) => source), formats: ['es'] },
      rolldownOptions: {
        external: [/^node:/],
        treeshake: { moduleSideEffects: false },
        output: {
          preserveModules: true,
          preserveModulesRoot: ROOT,
          entryFileNames: ({ name }) => `${placeOf(name)}.js`,
        },
      },
    },
  })
  const files = [...new Bun.Glob('vendor/**/*.js').scanSync(join(folder, LIB))]
  return [...new Set(files.map((path) => /^vendor.((?:@[^/\\]+.)?[^/\\]+)/.exec(path)?.[1] ?? path))].sort()
}

// `packages/client/src/x` is `client/x`. A folder called node_modules would be left out by npm.
function placeOf(path: string): string {
  return path.replace(/^packages\/(\w+)\/src\//, '$1/').replace(/^node_modules\//, 'vendor/')
}

// Vite would bundle a worker into an application here and now. In a library its address stays as it is, for the
// application's bundler to find.
const plainWorkerUrls: Plugin = {
  name: 'plain worker URLs',
  enforce: 'pre',
  transform: (code) => (code.includes(META_URL) ? code.replaceAll(META_URL, HELD_URL) : undefined),
  renderChunk: (code) => (code.includes(HELD_URL) ? code.replaceAll(HELD_URL, META_URL) : undefined),
}
const META_URL = 'import.meta.url'
const HELD_URL = '__held_import_meta_url__'
