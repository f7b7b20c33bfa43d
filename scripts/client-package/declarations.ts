// Makes the declaration files of the client package, one for each entry. They refer only to published names,
// and are checked as a separate program.
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readEntries } from './entries.ts'
import { emitDeclarations, openProgram, type Program } from './program.ts'
import { type RolledUp, rollUp } from './roll-up.ts'

/**
 * Makes the declarations of every entry, the core's first.
 * @throws if a public name has no doc comment, or the files do not compile without the workspace
 */
export async function makeDeclarations(): Promise<readonly RolledUp[]> {
  const entries = await readEntries()
  return inTemporaryFolder(async (folder) => {
    const files = await emitDeclarations(
      entries.map(({ source }) => source),
      folder,
    )
    const program = await openProgram(files, folder)
    const made: RolledUp[] = []
    try {
      for (const [index, { name }] of entries.entries())
        made.push(await rollUp(program, name, files[index] ?? '', folder, made[0]))
    } finally {
      await program.close()
    }
    const undocumented = made.flatMap((entry) => entry.undocumented.map((what) => `  ${entry.name}: ${what}`))
    if (undocumented.length > 0)
      throw new Error(`public names without documentation:\n${undocumented.join('\n')}`)
    await withDeclarations(made, async () => {})
    return made
  })
}

/** Opens finished declarations as a separate program. `fileOf` returns the path of an entry's file. */
export async function withDeclarations<T>(
  declarations: readonly RolledUp[],
  use: (program: Program, fileOf: (name: string) => string) => Promise<T>,
): Promise<T> {
  return inTemporaryFolder(async (folder) => {
    const fileOf = (name: string): string => join(folder, `${name}.d.ts`)
    for (const { name, text } of declarations) await Bun.write(fileOf(name), text)
    const program = await openProgram(
      declarations.map(({ name }) => fileOf(name)),
      folder,
      'standalone',
    )
    try {
      return await use(program, fileOf)
    } finally {
      await program.close()
    }
  })
}

async function inTemporaryFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sotto-declarations-')))
  try {
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}
