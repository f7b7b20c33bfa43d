// The compiler at work on declarations: emitting them, and reading a folder of them as a program.
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { API, type Project, SymbolFlags, type Symbol as TypeSymbol } from 'typescript/unstable/async'
import { ROOT } from './entries.ts'

const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')
const PACKAGES = join(ROOT, 'packages')
/** Ours that are not published: what the client shows of them goes into its own declarations. */
const PRIVATE = ['protocol', 'crypto']

/** Emits the declarations of `sources` and of all they import of ours into `folder`; answers where each went. */
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

/** A program of declarations, and the compiler that reads it. */
export interface Program {
  readonly project: Project
  /** What a module exports, aliases followed, by the name it has there. */
  exportsOf(file: string): Promise<ReadonlyMap<string, TypeSymbol>>
  /** The symbol behind an import. */
  resolve(symbol: TypeSymbol): Promise<TypeSymbol>
  close(): Promise<void>
}

/**
 * Opens `files`, declarations in `folder`, as a strict program that checks its libraries too. `standalone` ones find
 * nothing beyond their folder and the language.
 * @throws if it has errors
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
      if (!module) throw new Error(`${file} is no module`)
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

/** Where each entry of the private packages lies; `placeOf` takes its source's path from the folder of all packages. */
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
