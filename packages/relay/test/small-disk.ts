// A small file system of its own for a test that fills a disk. It ends with the test's process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { letEnd } from './let-end.ts'

const MIB = 1024 * 1024

/** A mounted file system. */
export interface SmallDisk extends AsyncDisposable {
  /** Where it is mounted. */
  readonly folder: string
  freeBytes(): number
  /** Writes a file that leaves at most so many bytes free. */
  fillUpTo(freeBytes: number): void
  /** Removes all files that `fillUpTo` wrote. */
  empty(): void
  /** Unmounts it. Without this it is unmounted when the process ends, however it ends. */
  remove(): Promise<void>
}

// A shell that mounts the file system and keeps it. When the process of the test ends in any way, the shell's
// standard input closes; the shell then unmounts it and removes the folder. It ignores SIGTERM, which Bun
// sends to the children of a test that takes too long.
const keeperScript = `
trap '' HUP INT TERM
mount -t tmpfs -o "$2" sotto-test "$1" || exit 1
echo mounted
cat >/dev/null
umount -l "$1" && rmdir "$1"
`

/**
 * Mounts a file system in memory of so many MiB. That needs root, or a `sudo` that asks for no password.
 * @param mode the permissions of its top folder
 * @throws Error if the file system cannot be mounted
 */
export async function mountSmallDisk(mib: number, mode = '700'): Promise<SmallDisk> {
  const folder = mkdtempSync(join(tmpdir(), 'sotto-small-'))
  const options = `size=${mib}m,mode=${mode},uid=${process.getuid?.() ?? 0}`
  const words = ['sh', '-c', keeperScript, 'keeper', folder, options]
  const [program = '', ...more] = process.getuid?.() === 0 ? words : ['sudo', '-n', ...words]
  // In a separate session, so that Ctrl-C ends the tests first and the file system after them.
  const keeper = spawn(program, more, { detached: true })
  const ended = Promise.all([once(keeper, 'close'), text(keeper.stderr)])
  const mounted = once(keeper.stdout, 'data')
  const failure = await Promise.race([
    mounted.then(() => undefined),
    ended.then(
      ([, said]) => said,
      (error: unknown) => String(error),
    ),
  ])
  if (failure !== undefined) {
    rmSync(folder, { recursive: true })
    throw new Error(
      `this test mounts a small file system, which needs root or a sudo without a password: ${failure}`,
    )
  }
  letEnd(keeper)
  const ballast = join(folder, 'ballast')
  mkdirSync(ballast)
  let files = 0
  const freeBytes = (): number => {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  }
  const remove = async (): Promise<void> => {
    keeper.ref()
    keeper.stdin.end()
    const [[status], said] = await ended
    if (status !== 0) throw new Error(`the small file system was not removed: ${said}`)
  }
  return {
    folder,
    freeBytes,
    fillUpTo: (left) => {
      const file = openSync(join(ballast, String(files++)), 'w')
      const piece = Buffer.alloc(MIB, 1)
      try {
        for (let more = freeBytes() - left; more > 0; more -= piece.length) {
          writeSync(file, piece, 0, Math.min(more, piece.length))
        }
      } catch (error) {
        // Another program has written in the meantime.
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
      } finally {
        closeSync(file)
      }
    },
    empty: () => {
      rmSync(ballast, { recursive: true })
      mkdirSync(ballast)
    },
    remove,
    [Symbol.asyncDispose]: remove,
  }
}
