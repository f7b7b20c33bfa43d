// The call secrets of epochs that were left a moment ago, in memory only.
import type { Clock } from '../platform/platform.ts'

/**
 * How long they are kept, in milliseconds. A signal is refused when it is older than a minute, and an offer
 * rings for 45 seconds.
 */
const KEEP_MS = 120_000

/** Call secrets by the epoch that was left. */
export class LeftSecrets {
  readonly #clock: Pick<Clock, 'after'>
  readonly #secrets = new Map<number, { readonly secret: Uint8Array; readonly cancel: () => void }>()

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock
  }

  /** Takes the secret of an epoch that is left now. The array is erased later. */
  add(epoch: number, secret: Uint8Array): void {
    this.#drop(epoch)
    const cancel = this.#clock.after(KEEP_MS, () => this.#drop(epoch))
    this.#secrets.set(epoch, { secret, cancel })
  }

  /** A copy of the secret of an epoch; undefined if it is gone. */
  find(epoch: number): Uint8Array | undefined {
    const secret = this.#secrets.get(epoch)?.secret
    return secret && new Uint8Array(secret)
  }

  /** Erases all. */
  clear(): void {
    for (const epoch of [...this.#secrets.keys()]) this.#drop(epoch)
  }

  #drop(epoch: number): void {
    const dropped = this.#secrets.get(epoch)
    dropped?.cancel()
    dropped?.secret.fill(0)
    this.#secrets.delete(epoch)
  }
}
