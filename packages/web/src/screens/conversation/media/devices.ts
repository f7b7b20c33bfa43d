// The camera and the microphone: whether there is one, and why it cannot be used.
import { notify, notifyError } from '../../../session/notices.ts'
import { texts } from '../../../texts/texts.ts'

/** Whether there seems to be a camera. Browsers tell this without asking the user. */
export async function hasCamera(): Promise<boolean> {
  // Pages that are not secure have no devices.
  if (!('mediaDevices' in navigator)) return false
  const devices = await navigator.mediaDevices.enumerateDevices()
  return devices.some(({ kind }) => kind === 'videoinput')
}

/** Shows why a device cannot be used. */
export function notifyDevice(error: unknown): void {
  const { problems } = texts.value.calls
  const text = error instanceof DOMException ? problems[error.name] : undefined
  if (text === undefined) notifyError(error)
  else notify(text, { kind: 'error' })
}
