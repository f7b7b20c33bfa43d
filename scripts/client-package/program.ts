// Runs the TypeScript compiler: emits declarations, and opens a folder of declarations as a program.
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { API, type Project, SymbolFlags, type Symbol as TypeSymbol } from 'typescript/unstable/async'
import { ROOT } from './entries.ts'

const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')
const PACKAGES = join(ROOT, 'packages')
/**
 * Our packages that are not published. The client's declarations contain the types of them that it exposes.
 */
const PRIVATE = ['protocol', 'crypto', 'mls']

/**
 * Emits the declarations of `sources`, and of all our files that they import, into `folder`.
 * @returns the path of each source's declarations
 */
export async function emitDeclarations(sources: readonly string[], folder: string): Promise<string[]> {
  const config = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: PACKAGES,
      outDir: folder,
      typeRoots: [join(ROOT, 'node_modules/@types')],
      paths: await privatePaths((path) => join(PACKAGES, path)),
    },
    include: [],
    files: sources,
  }
  const configFile = join(folder, 'tsconfig.emit.json')
  await Bun.write(configFile, JSON.stringify(config))
  const tsc = Bun.spawn([process.execPath, TSC, '-p', configFile], { stdout: 'pipe', stderr: 'inherit' })
  const output = await new Response(tsc.stdout).text()
  if ((await tsc.exited) !== 0) throw new Error(`the client does not compile:\n${output}`)
  return sources.map((source) => source.replace(PACKAGES, folder).replace(/\.ts$/, '.d.ts'))
}

/** An opened program of declarations, with the compiler's information about it. */
export interface Program {
  readonly project: Project
  /** The exports of a module by their name there. Aliases are resolved. */
  exportsOf(file: string): Promise<ReadonlyMap<string, TypeSymbol>>
  /** The symbol that an import refers to. */
  resolve(symbol: TypeSymbol): Promise<TypeSymbol>
  close(): Promise<void>
}

/**
 * Opens declaration files in `folder` as a strict program that also checks its libraries. A `standalone`
 * program finds only the files of the folder and the language's own types.
 * @throws if the program has errors
 */
export async function openProgram(
  files: readonly string[],
  folder: string,
  reach: 'workspace' | 'standalone' = 'workspace',
): Promise<Program> {
  const configFile = join(folder, 'tsconfig.json')
  await Bun.write(
    configFile,
    JSON.stringify({
      compilerOptions: {
        target: 'esnext',
        module: 'preserve',
        moduleResolution: 'bundler',
        lib: ['esnext', 'dom', 'dom.iterable'],
        types: [],
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        allowImportingTsExtensions: true,
        ...(reach === 'workspace' ? { paths: await workspacePaths(folder) } : {}),
      },
      files,
    }),
  )
  const api = new API({ cwd: await realpath(folder) })
  const snapshot = await api.updateSnapshot({ openProject: configFile })
  const project = snapshot.getProject(configFile)
  if (!project) throw new Error(`the compiler does not open ${configFile}`)
  const { checker, program } = project
  const faults = [...(await program.getSyntacticDiagnostics()), ...(await program.getSemanticDiagnostics())]
  if (faults.length > 0) {
    const lines = faults.map(({ fileName, text }) => `${fileName ?? ''}: ${text}`)
    throw new Error(`the declarations have errors:\n${lines.join('\n')}`)
  }
  const resolve = async (symbol: TypeSymbol): Promise<TypeSymbol> =>
    symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  return {
    project,
    resolve,
    exportsOf: async (file) => {
      const source = await program.getSourceFile(file)
      const module = source && (await checker.getSymbolAtLocation(source))
      if (!module) throw new Error(`${file} is not a module`)
      const found = new Map<string, TypeSymbol>()
      for (const symbol of await checker.getExportsOfModule(module))
        found.set(symbol.name, await resolve(symbol))
      return found
    },
    close: () => api.close(),
  }
}

async function workspacePaths(folder: string): Promise<Record<string, string[]>> {
  const ours = await privatePaths((path) => join(folder, path.replace(/\.ts$/, '.d.ts')))
  return { ...ours, '*': [join(ROOT, 'node_modules/*')] }
}

/**
 * The path of each entry of the private packages. `placeOf` gets the source's path within the folder of all
 * packages.
 */
async function privatePaths(placeOf: (path: string) => string): Promise<Record<string, string[]>> {
  const paths: Record<string, string[]> = {}
  for (const name of PRIVATE) {
    const { exports }: { exports: Record<string, string> } = await Bun.file(
      join(PACKAGES, name, 'package.json'),
    ).json()
    for (const [key, path] of Object.entries(exports))
      paths[`@sotto/${name}${key.slice(1)}`] = [placeOf(join(name, path))]
  }
  return paths
}
