// The writes of this process, by upload and part: never two at once to the same part.
import type { StoredBlob } from './blob-store.ts'
import { SharedWork } from './shared-work.ts'

interface RunningWrite {
  readonly ending: AbortController
  readonly ended: Promise<unknown>
}

/**
 * When a client writes a part again, it has usually lost the connection of its first attempt, so that attempt
 * is ended.
 */
export class WriteQueue {
  /** The links whose blob is being copied, by the blob's number. */
  readonly adoptions = new SharedWork<number, StoredBlob | undefined>()
  readonly #running = new Map<string, RunningWrite>()

  /** Aborts all writes to an upload, and waits until they have ended. */
  async end(upload: string): Promise<void> {
    const ending = [...this.#running].filter(([name]) => name.startsWith(`${upload} `))
    for (const [, write] of ending) write.ending.abort()
    await Promise.all(ending.map(([, { ended }]) => ended))
  }

  /**
   * Aborts a running write of this part, waits until it has ended, and runs `work`.
   * @param work its signal is aborted when another write of the part begins, or after `mostSeconds`
   */
  async run<T>(
    { upload, number }: { upload: string; number: number },
    mostSeconds: number,
    work: (ending: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const name = `${upload} ${number}`
    for (let before = this.#running.get(name); before; before = this.#running.get(name)) {
      before.ending.abort()
      await before.ended
    }
    const ending = new AbortController()
    const timer = setTimeout(() => ending.abort(), mostSeconds * 1000)
    const done = work(ending.signal).finally(() => {
      clearTimeout(timer)
      this.#running.delete(name)
    })
    this.#running.set(name, { ending, ended: done.catch(() => undefined) })
    return await done
  }
}
