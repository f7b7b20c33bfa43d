// Says that something is being done, so that its button waits for it.
import type { Signal } from '@preact/signals'

/** Does some work; the signal is true until it is done. @throws what the work throws */
export async function whileBusy(isBusy: Signal<boolean>, work: () => unknown): Promise<void> {
  isBusy.value = true
  try {
    await work()
  } finally {
    isBusy.value = false
  }
}
