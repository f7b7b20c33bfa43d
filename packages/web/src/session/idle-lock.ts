// Locks the app when nobody has used it for as long as the user chose: in no tab, and whether it is seen or
// not. The tabs tell each other of the latest use by the browser's local storage. It is in the first script:
// a part that could not be loaded would leave the app open.
import { nowMs } from './clock.ts'

const KEY = 'sotto-used'
/** Uses are stored at most this often, in milliseconds. */
const TOLD_EVERY_MS = 5000
const USES = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart']

let awake = 0

/** Keeps the app from locking by itself, as during a call, until the returned function is called. */
export function stayAwake(): () => void {
  awake += 1
  return () => {
    awake -= 1
    tell()
  }
}

/** Calls `lock` once nobody has used the app for this long. Returns how to end it. */
export function lockWhenIdle(afterMs: number, lock: () => void): () => void {
  const ended = new AbortController()
  const { signal } = ended
  let timer: ReturnType<typeof setTimeout> | undefined
  const look = (): void => {
    clearTimeout(timer)
    if (awake > 0) tell()
    const leftMs = Math.min(afterMs, lastUse() + afterMs - nowMs())
    if (leftMs > 0) timer = setTimeout(look, leftMs)
    else lock()
  }
  const use = (): void => {
    // After the device has slept, a timer may fire later than the first touch.
    if (awake === 0 && nowMs() - lastUse() >= afterMs) lock()
    else if (Math.abs(nowMs() - lastUse()) > TOLD_EVERY_MS) tell()
  }
  for (const name of USES) addEventListener(name, use, { signal, capture: true, passive: true })
  document.addEventListener('visibilitychange', look, { signal })
  addEventListener('pageshow', look, { signal })
  tell()
  look()
  return () => {
    clearTimeout(timer)
    ended.abort()
  }
}

function tell(): void {
  localStorage.setItem(KEY, String(nowMs()))
}

function lastUse(): number {
  return Number(localStorage.getItem(KEY) ?? 0)
}
