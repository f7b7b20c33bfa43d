// Saves a file on the device, as bytes that no program of the browser opens.
import { harmlessName } from './file-name.ts'

/** A browser has begun to save by then, also one that asks where to. */
const REVOKED_AFTER_MS = 60_000

/** Saves a blob under a name that is made harmless. */
export function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(new Blob([blob], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = url
  link.download = harmlessName(name)
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), REVOKED_AFTER_MS)
}
