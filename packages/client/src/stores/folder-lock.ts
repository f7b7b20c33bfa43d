// Locks a folder for one process: two clients on the same files would overwrite each other's data.
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ClientError } from '../client-error.ts'

const LOCK_FILE = 'lock'
/** A lock file that stays empty this long was left by a process that crashed before it wrote the content. */
const EMPTY_LOCK_MS = 2000
const ATTEMPTS = 20

const held = new Set<string>()

/** A folder that this process holds until `release`. */
export interface FolderLock {
  release(): Promise<void>
}

/**
 * Locks the folder, or throws `STORE_LOCKED` if a running process holds it. Takes over the lock of a process
 * that has ended. The start time, if the system reports it, distinguishes a process from a later one with the
 * same pid.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const path = join(folder, LOCK_FILE)
  if (held.has(path)) throw locked(folder)
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (await createLock(path)) {
      held.add(path)
      return { release: () => release(path) }
    }
    await clearStaleLock(path, folder)
  }
  throw locked(folder)
}

async function createLock(path: string): Promise<boolean> {
  try {
    const handle = await open(path, 'wx', 0o600)
    try {
      await handle.writeFile(JSON.stringify({ pid: process.pid, startedAt: await startTime(process.pid) }))
    } finally {
      await handle.close()
    }
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

async function clearStaleLock(path: string, folder: string): Promise<void> {
  const before = await readText(path)
  if (before === undefined) return
  if (await isHeld(path, before)) throw locked(folder)
  // The lock is renamed first, not removed: if several processes find it stale, only one can rename it. The
  // renamed file is then read again. If it is a new owner's lock, it is put back.
  const moved = `${path}.${process.pid}`
  try {
    await rename(path, moved)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return
    throw error
  }
  if ((await readText(moved)) !== before) {
    await rename(moved, path)
    throw locked(folder)
  }
  await rm(moved, { force: true })
}

async function isHeld(path: string, text: string): Promise<boolean> {
  const owner = parseOwner(text)
  if (!owner) {
    const age = Date.now() - (await stat(path).catch(() => ({ mtimeMs: Date.now() }))).mtimeMs
    if (age > EMPTY_LOCK_MS) return false
    // Its owner is about to write it, so read it again.
    await new Promise((resolve) => setTimeout(resolve, EMPTY_LOCK_MS / 10))
    const later = await readText(path)
    return later !== undefined && later !== text ? isHeld(path, later) : later !== undefined
  }
  // This process's pid, but not in `held`. With another start time it was an earlier process with the same
  // pid, as in a restarted container. With the same start time it is another thread of this process, or a
  // second copy of this module.
  if (owner.pid === process.pid) {
    const startedAt = await startTime(process.pid)
    return startedAt !== '' && owner.startedAt === startedAt
  }
  if (!isAlive(owner.pid)) return false
  const startedAt = await startTime(owner.pid)
  return owner.startedAt === '' || startedAt === '' || owner.startedAt === startedAt
}

async function release(path: string): Promise<void> {
  held.delete(path)
  await rm(path, { force: true })
}

function parseOwner(text: string): { pid: number; startedAt: string } | undefined {
  try {
    const owner: unknown = JSON.parse(text)
    if (typeof owner !== 'object' || owner === null) return undefined
    const pid = 'pid' in owner ? owner.pid : undefined
    const startedAt = 'startedAt' in owner ? owner.startedAt : undefined
    return typeof pid === 'number' && typeof startedAt === 'string' ? { pid, startedAt } : undefined
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it runs, under another user.
    return hasCode(error, 'EPERM')
  }
}

/** When a process started, in the system's unit; "" if the system does not report it. */
async function startTime(pid: number): Promise<string> {
  const text = await readText(`/proc/${pid}/stat`)
  // The process name (second field, in parentheses) may contain any character. The start time is the 20th
  // field after it.
  return text?.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    return undefined
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

function locked(folder: string): ClientError {
  return new ClientError('STORE_LOCKED', `${folder} is open already, in this process or in another one`)
}
