// Builds the scripts of the client package: each of its modules, and each module of the libraries it uses,
// becomes one file of plain JavaScript.
import { join } from 'node:path'
import { build, type Plugin } from 'vite'
import { type Entry, ROOT } from './entries.ts'
import { leanProtocol } from './lean-protocol.ts'
import { packedWordList } from './word-list.ts'

/** The language of Node 20 and of browsers since the spring of 2023. tsconfig.oldest.json has its types. */
const OLDEST_LANGUAGE = 'es2023'
/** The folder of the scripts in the package. */
const LIB = 'lib'

/** The path of an entry's script in the package. */
export function scriptOf({ source }: Entry): string {
  return `${LIB}/${placeOf(source.slice(ROOT.length + 1).replace(/\.ts$/, ''))}.js`
}

/**
 * Builds the scripts into `folder`. Each module stays a separate file, so that bundlers can leave out unused
 * files, and stack traces and debuggers show the names of the source. The scripts are not minified;
 * applications do that.
 * @returns the names of the libraries among the scripts
 */
export async function buildScripts(entries: readonly Entry[], folder: string): Promise<readonly string[]> {
  await build({
    root: ROOT,
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    plugins: [plainWorkerUrls, packedWordList, leanProtocol],
    build: {
      target: OLDEST_LANGUAGE,
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

// `packages/client/src/x` becomes `client/x`. `node_modules` becomes `vendor`, because npm leaves out folders
// called node_modules.
function placeOf(path: string): string {
  return path.replace(/^packages\/(\w+)\/src\//, '$1/').replace(/^node_modules\//, 'vendor/')
}

// Hides `import.meta.url` from Vite, which would otherwise bundle the worker now. In a library the worker's
// address must stay unchanged, so that the application's bundler finds it.
const plainWorkerUrls: Plugin = {
  name: 'plain worker URLs',
  enforce: 'pre',
  transform: (code) => (code.includes(META_URL) ? code.replaceAll(META_URL, HELD_URL) : undefined),
  renderChunk: (code) => (code.includes(HELD_URL) ? code.replaceAll(HELD_URL, META_URL) : undefined),
}
const META_URL = 'import.meta.url'
const HELD_URL = '__held_import_meta_url__'
