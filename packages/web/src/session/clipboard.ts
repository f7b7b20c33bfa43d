// Copies texts. A secret is removed from the clipboard again.

/** After this time a secret is removed from the clipboard. */
const SECRET_MS = 60_000

let stopWaiting: (() => void) | undefined

/** Copies a text. @throws DOMException if the browser does not allow it */
export async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text)
}

/**
 * Copies a secret, and empties the clipboard after a minute, whatever is in it then: a page may read the
 * clipboard only after the browser has asked the user. A page without focus cannot empty it, and does so once
 * it has the focus and is touched.
 */
export async function copySecret(text: string): Promise<void> {
  await copyText(text)
  stopWaiting?.()
  const timer = setTimeout(() => void emptyClipboard(), SECRET_MS)
  stopWaiting = () => clearTimeout(timer)
}

/** Empties the clipboard if a secret may be in it. Call it when the user goes on. */
export async function forgetSecret(): Promise<void> {
  if (stopWaiting) await emptyClipboard()
}

async function emptyClipboard(): Promise<void> {
  stopWaiting?.()
  stopWaiting = undefined
  try {
    await navigator.clipboard.writeText('')
  } catch {
    const again = (): void => void emptyClipboard()
    addEventListener('pointerup', again, { once: true })
    stopWaiting = () => removeEventListener('pointerup', again)
  }
}
