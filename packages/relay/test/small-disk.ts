// A small file system of its own for a test that fills a disk.
import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MIB = 1024 * 1024

/** A mounted file system. */
export interface SmallDisk {
  /** Where it is mounted. */
  readonly folder: string
  freeBytes(): number
  /** Writes a file that leaves only so many bytes free. */
  fillUpTo(freeBytes: number): void
  /** Removes that file. */
  empty(): void
  remove(): void
}

/**
 * Mounts a file system in memory of so many MiB. That needs root, or a `sudo` that asks for no password.
 * @param mode the permissions of its top folder
 */
export function mountSmallDisk(mib: number, mode = '700'): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'sotto-small-'))
  asRoot([
    'mount',
    '-t',
    'tmpfs',
    '-o',
    `size=${mib}m,mode=${mode},uid=${process.getuid?.() ?? 0}`,
    'sotto-test',
    folder,
  ])
  const ballast = join(folder, 'ballast')
  mkdirSync(ballast)
  let files = 0
  const freeBytes = (): number => {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  }
  const remove = (): void => {
    process.off('exit', remove)
    asRoot(['umount', '-l', folder])
    rmSync(folder, { recursive: true, force: true })
  }
  // If the test fails, nothing else would unmount it.
  process.once('exit', remove)
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
      } finally {
        closeSync(file)
      }
    },
    empty: () => {
      rmSync(ballast, { recursive: true })
      mkdirSync(ballast)
    },
    remove,
  }
}

function asRoot(command: readonly string[]): void {
  const [program = '', ...words] = process.getuid?.() === 0 ? command : ['sudo', '-n', ...command]
  const { status, stderr, error } = spawnSync(program, words, { encoding: 'utf8' })
  if (status === 0) return
  throw new Error(
    `this test mounts a small file system, which needs root or a sudo without a password: ${error?.message ?? stderr}`,
  )
}
