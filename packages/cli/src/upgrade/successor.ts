// `sotto serve` after an upgrade: the process whose relay has stopped starts the new version in its place,
// and goes back to the former one if that is not ready in time. It stays the parent, so that the
// terminal, systemd or the container that started `sotto serve` still has the same process.
import { link, rename, rm, stat } from 'node:fs/promises'
import type { HandedOver } from '@sotto/relay'
import type { Subprocess } from 'bun'

/** The environment, as processes get it. */
type Environment = Readonly<Record<string, string | undefined>>

/** A relay that makes room exits with this code if its parent starts the next one. */
const MADE_ROOM = 75
/** Tells a relay who starts the next one. */
const PARENT = 'SOTTO_PARENT'
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const ASK_EVERY_MS = 100

/** Where the former version lies while, and after, a new one takes its place. */
export function formerOf(file: string): string {
  return `${file}.previous`
}

/** Tells whether two paths are the same file on the disk. @returns undefined if there is none */
export async function idOf(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found && `${found.dev} ${found.ino}`
}

/**
 * Puts the former version back to where it was. It stays at {@link formerOf}, too.
 * @param failed the version that failed, by {@link idOf}; if another one lies there by now, that one stays
 */
export async function putBack(file: string, failed: string | undefined): Promise<void> {
  if ((await idOf(file)) !== failed) return
  const copy = `${file}.${process.pid}.back`
  await rm(copy, { force: true })
  await link(formerOf(file), copy)
  await rename(copy, file)
}

/** How successors are started. */
interface SuccessorParts {
  readonly file: string
  readonly args: readonly string[]
  readonly environment: Environment
  readonly handedOver: HandedOver
  /** Whether the relay of this process is ready. */
  readonly isReady: (pid: number) => Promise<boolean>
}

/**
 * Starts the program that lies at `file`, which is a new version, and its successors.
 * @returns the exit code of the last one
 */
export async function runSuccessors(parts: SuccessorParts): Promise<number> {
  const { file, environment, handedOver } = parts
  // Otherwise the parent would be the process that its own parent waits for.
  if (environment[PARENT] === String(process.ppid)) return MADE_ROOM
  const children = new Children({ ...parts, environment: { ...environment, [PARENT]: String(process.pid) } })
  for (;;) {
    let child = children.start(file)
    const reason = await children.untilReady(child, handedOver.readySeconds)
    if (reason === undefined) handedOver.log.info('upgraded')
    else if (!children.isStopped) {
      handedOver.log.error('upgrade_failed', { reason })
      child = await goBack(children, child, parts)
    }
    if (isNotStarted(child)) return children.isStopped ? 0 : 1
    const code = await child.exited
    if (code !== MADE_ROOM || children.isStopped) return code
  }
}

/** Why a program could not be started. */
interface NotStarted {
  readonly reason: string
}

function isNotStarted(child: Subprocess | NotStarted): child is NotStarted {
  return 'reason' in child
}

/**
 * Starts the former version instead of a new one. If the former cannot use the store as the new one left it,
 * it is not ready either, and the new one starts once more.
 */
async function goBack(
  children: Children,
  failed: Subprocess | NotStarted,
  { file, handedOver: { log, stopSeconds } }: SuccessorParts,
): Promise<Subprocess | NotStarted> {
  const id = await idOf(file)
  await end(failed, stopSeconds)
  // A signal that came meanwhile went to the one that ended.
  if (children.isStopped) return failed
  const former = children.start(formerOf(file))
  // It was ready before, so it has as long as it needs: it is ready, or it ends.
  const reason = await children.untilReady(former, Number.POSITIVE_INFINITY)
  if (children.isStopped) return former
  if (reason === undefined) {
    log.info('upgrade_undone')
    // It fails where only the operator may write, whose sotto upgrade then does it.
    await putBack(file, id).catch((error) => log.warn('program_not_put_back', { reason: String(error) }))
    return former
  }
  log.error('upgrade_not_undone', { reason })
  await end(former, stopSeconds)
  if (children.isStopped) return former
  const last = children.start(file)
  if (isNotStarted(last)) log.error('upgrade_not_undone', { reason: last.reason })
  return last
}

/** The processes of the successors, one after the other. Signals are passed on to the last one. */
class Children {
  isStopped = false
  readonly #parts: SuccessorParts
  #current: Subprocess | undefined

  constructor(parts: SuccessorParts) {
    this.#parts = parts
    for (const signal of SIGNALS)
      process.on(signal, () => {
        this.isStopped = true
        this.#current?.kill(signal)
      })
  }

  start(file: string): Subprocess | NotStarted {
    const { args, environment: env } = this.#parts
    try {
      this.#current = Bun.spawn([file, ...args], { env, stdio: ['inherit', 'inherit', 'inherit'] })
      return this.#current
    } catch (error) {
      return { reason: `it cannot be started: ${error instanceof Error ? error.message : error}` }
    }
  }

  /** Waits for a relay. @returns why it is not ready; undefined if it is, or was and made room already */
  async untilReady(child: Subprocess | NotStarted, mostSeconds: number): Promise<string | undefined> {
    if (isNotStarted(child)) return child.reason
    const { isReady } = this.#parts
    const late = performance.now() + mostSeconds * 1000
    while (child.exitCode === null && child.signalCode === null) {
      if (await isReady(child.pid)) return undefined
      if (performance.now() > late) return `it was not ready within ${mostSeconds} s`
      await Bun.sleep(ASK_EVERY_MS)
    }
    if (child.exitCode === MADE_ROOM) return undefined
    return `it ended with ${child.signalCode ?? child.exitCode}`
  }
}

/** Ends a process that may have accepted work. */
async function end(child: Subprocess | NotStarted, stopSeconds: number): Promise<void> {
  if (isNotStarted(child)) return
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), stopSeconds * 1000)
  await child.exited
  clearTimeout(late)
}
