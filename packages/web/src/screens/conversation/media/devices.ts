// The camera and the microphone: whether there is one, and why it cannot be used.
import { notify, notifyError } from '../../../session/notices.ts'
import { callsTexts } from '../../../texts/calls.ts'

/** Whether there seems to be a camera. Browsers tell this without asking the user. */
export async function hasCamera(): Promise<boolean> {
  // Only secure pages have devices.
  if (!('mediaDevices' in navigator)) return false
  const devices = await navigator.mediaDevices.enumerateDevices()
  return devices.some(({ kind }) => kind === 'videoinput')
}

/** Shows why a device cannot be used. */
export function notifyDevice(error: unknown): void {
  const { problems } = callsTexts.value
  const text = error instanceof DOMException ? problems[error.name] : undefined
  if (text === undefined) notifyError(error)
  else notify(text, { kind: 'error' })
}
