// Uploads and downloads of a chat: one after another, beside the typed lines.
import type { TransferOptions } from '@sotto/client'

/** Runs transfers in the order in which they were begun. */
export class Transfers {
  readonly #onChange: () => void
  readonly #onError: (error: unknown) => void
  readonly #abort = new AbortController()
  #queue: Promise<void> = Promise.resolve()
  #status = ''

  /** @param onChange called whenever `status` has changed */
  constructor(onChange: () => void, onError: (error: unknown) => void) {
    this.#onChange = onChange
    this.#onError = onError
  }

  /** What is being transferred and how far, for the status line; "" for nothing. */
  get status(): string {
    return this.#status
  }

  /** Begins a transfer once the earlier ones have ended. `what` is safe to print. */
  begin(what: string, work: (options: TransferOptions) => Promise<void>): void {
    const { signal } = this.#abort
    this.#queue = this.#queue.then(async () => {
      if (signal.aborted) return
      this.#setStatus(`${what}…`)
      try {
        await work({ signal, onProgress: (progress) => this.#setStatus(`${what}: ${shareOf(progress)}`) })
      } catch (error) {
        if (!signal.aborted) this.#onError(error)
      } finally {
        this.#setStatus('')
      }
    })
  }

  /** Ends all transfers. */
  abort(): void {
    this.#abort.abort()
  }

  /** Resolves once every transfer has ended. */
  settled(): Promise<void> {
    return this.#queue
  }

  #setStatus(status: string): void {
    this.#status = status
    this.#onChange()
  }
}

function shareOf({ doneBytes, totalBytes }: { doneBytes: number; totalBytes: number | undefined }): string {
  return totalBytes === undefined || totalBytes === 0
    ? sizeText(doneBytes)
    : `${Math.floor((doneBytes / totalBytes) * 100)} % of ${sizeText(totalBytes)}`
}

/** A size for people: `12 kB`, in powers of 1000. */
export function sizeText(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB']
  let size = bytes
  let unit = 0
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000
    unit += 1
  }
  return `${unit === 0 || size >= 10 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`
}
