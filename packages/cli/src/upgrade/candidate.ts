// The program that is to take the place of another: copied beside it, checked again, asked what it is, and
// put in its place.
import { chmod, chown, copyFile, link, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CommandError } from '../command.ts'
import { type SignedFile, sha256Of } from './release.ts'
import { formerOf, idOf } from './successor.ts'

/** How long a program may take to say what it is, on a busy machine. */
const ANSWER_WITHIN_MS = 60_000

/** What a program says of itself: its version, and which relays can use the store that it has used. */
export interface Description {
  readonly version: string
  readonly schema: number
  readonly oldest_schema: number
}

/**
 * Copies a signed file beside the program that it is to replace, with that one's owner and mode.
 * @returns the copy, which is the file that was signed
 * @throws CommandError if it cannot be copied, or changed meanwhile
 */
export async function copyBeside(file: string, { path, sha256 }: SignedFile): Promise<string> {
  const copy = `${file}.next`
  await step(`cannot write ${copy}`, async () => {
    const { mode, uid, gid } = await stat(file)
    await rm(copy, { force: true })
    await copyFile(path, copy)
    await chmod(copy, (mode & 0o7777) | 0o100)
    await chown(copy, uid, gid)
    await syncPath(copy)
  })
  if ((await sha256Of(copy)) === sha256) return copy
  await rm(copy)
  throw new CommandError(`${path} changed while it was copied; fetch it again`)
}

/** Asks a program that was checked what it is. @throws CommandError if it does not run here */
export async function askWhatItIs(program: string): Promise<Description> {
  try {
    const child = Bun.spawn([program, 'version', '--json'], {
      ...{ env: {}, stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' },
      timeout: ANSWER_WITHIN_MS,
      killSignal: 'SIGKILL',
    })
    const said: unknown = JSON.parse(await new Response(child.stdout).text())
    if (isDescription(said)) return said
  } catch {
    // Said below.
  }
  throw new CommandError('the new program does not run on this machine')
}

function isDescription(said: unknown): said is Description {
  if (typeof said !== 'object' || said === null) return false
  const numbers = ['schema', 'oldest_schema'].map((name) => Reflect.get(said, name))
  return typeof Reflect.get(said, 'version') === 'string' && numbers.every(Number.isSafeInteger)
}

/**
 * Puts the copy in the place of the program, and keeps that one as {@link formerOf}.
 * @param running the program of the running relay, by {@link idOf}. If it is the former one already, the
 * program in its place is a version that failed, and the former one stays
 */
export async function takePlace(file: string, copy: string, running: string | undefined): Promise<void> {
  await step(`cannot replace ${file}`, async () => {
    if (running === undefined || (await idOf(formerOf(file))) !== running) {
      await rm(formerOf(file), { force: true })
      await link(file, formerOf(file))
    }
    await rename(copy, file)
    await syncPath(dirname(file))
  })
}

async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function step(failure: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    throw new CommandError(`${failure} (${error.code})`)
  }
}
