// Runs the command line as a process.
import { expect } from 'bun:test'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'

/** The command line's first file. */
export const mainFile = join(import.meta.dir, '../src/main.ts')

/** How a process ended. */
export interface Ended {
  readonly code: number
  readonly output: string
  readonly errors: string
}

/** Runs `sotto` with these arguments, and no settings from the environment. */
export function sotto(...args: string[]): Promise<Ended> {
  return run([mainFile, ...args])
}

/** Runs `sotto` with these settings and arguments. */
export function sottoWith(settings: Readonly<Record<string, string>>, ...args: string[]): Promise<Ended> {
  return run([mainFile, ...args], settings)
}

/** Runs this Bun with these arguments. */
export async function run(
  words: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const child = start(words, settings)
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, output, errors }
}

/** Starts this Bun with these arguments. */
function start(words: readonly string[], settings: Readonly<Record<string, string>> = {}) {
  return Bun.spawn([process.execPath, ...words], {
    cwd: import.meta.dir,
    env: { PATH: process.env.PATH ?? '', ...settings },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

/** Expects that the call failed with this sentence and nothing else. */
export function expectRefused(ended: Ended, sentence: string): void {
  expect(ended).toEqual({ code: 1, output: '', errors: `sotto: ${sentence}\n` })
}

/**
 * Runs `sotto` and kills it when it reads this blob. The file is a pipe meanwhile, so it waits there.
 * @param isThere whether it has come to the blob
 */
export async function killAtBlob(
  file: string,
  isThere: () => Promise<boolean>,
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<void> {
  await rename(file, `${file}.aside`)
  expect(Bun.spawnSync(['mkfifo', file]).exitCode).toBe(0)
  const child = start([mainFile, ...args], settings)
  try {
    while (!(await isThere())) {
      if (child.exitCode !== null) throw new Error(await new Response(child.stderr).text())
      await Bun.sleep(20)
    }
  } finally {
    child.kill('SIGKILL')
    await child.exited
    await rename(`${file}.aside`, file)
  }
  expect(child.signalCode).toBe('SIGKILL')
}
