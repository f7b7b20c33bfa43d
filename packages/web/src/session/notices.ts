// Short notices at the edge of the screen: what was done, with a way to undo it, or what failed.
import { signal } from '@preact/signals'
import { ClientError } from '@sotto/client'
import { explain } from '../texts/explain.ts'
import { texts } from '../texts/texts.ts'

/** A notice. */
export interface Notice {
  readonly id: number
  readonly text: string
  readonly kind: 'info' | 'error'
  readonly action?: { readonly label: string; readonly run: () => void }
}

const LASTS_MS = 6000
let latest = 0

export const notices = signal<readonly Notice[]>([])

/** The store of this device has failed, as on a full disk. Nothing is stored until it is opened again. */
export const isStoreBroken = signal(false)

/** What the relay says about the suspension of this account, until it is lifted. */
export const suspension = signal<ClientError | undefined>(undefined)

/** Shows a notice for some seconds. Returns a function that removes it. */
export function notify(
  text: string,
  more: Pick<Notice, 'action'> & { kind?: Notice['kind'] } = {},
): () => void {
  const id = ++latest
  const { kind = 'info', ...rest } = more
  notices.value = [...notices.value.slice(-2), { id, text, kind, ...rest }]
  const remove = (): void => {
    notices.value = notices.value.filter((notice) => notice.id !== id)
  }
  setTimeout(remove, LASTS_MS)
  return remove
}

/** Shows what an error means. That the store has failed is told once, and stays in a bar. */
export function notifyError(error: unknown): void {
  if (error instanceof ClientError && error.code === 'STORE_FAILED') {
    if (isStoreBroken.value) return
    isStoreBroken.value = true
  }
  noticeSuspension(error)
  notify(explain(error), { kind: 'error' })
}

/** Shows that a part of the app is missing. Browsers remember a script that failed: a new page loads it. */
export function offerReload(error: unknown): void {
  const action = { label: texts.value.common.tryAgain, run: () => location.reload() }
  notify(explain(error), { kind: 'error', action })
}

/** Shows the bar of a suspended account, if this error says that it is one. Returns whether it does. */
export function noticeSuspension(error: unknown): boolean {
  const isSuspended = error instanceof ClientError && error.refusal === 'ACCOUNT_SUSPENDED'
  if (isSuspended) suspension.value = error
  return isSuspended
}

/** Runs work that the user asked for, and shows its error. Returns whether it was done. */
export async function attempt(work: () => unknown): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    notifyError(error)
    return false
  }
}
