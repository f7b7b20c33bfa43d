// Tells of a call by sound, vibration and the title of the page. The sound is computed: there is no file.

type Ring = 'incoming' | 'outgoing'

/** One tone of a ring: when it begins, in seconds, its pitch in hertz, and its length in seconds. */
interface Tone {
  readonly at: number
  readonly hertz: number
  readonly seconds: number
}

interface Pattern {
  readonly everyMs: number
  /** From 0 to 1. */
  readonly volume: number
  readonly tones: readonly Tone[]
}

const PATTERNS: Readonly<Record<Ring, Pattern>> = {
  incoming: {
    everyMs: 3000,
    volume: 0.25,
    tones: [
      { at: 0, hertz: 659.3, seconds: 0.22 },
      { at: 0.2, hertz: 784, seconds: 0.22 },
      { at: 0.4, hertz: 987.8, seconds: 0.5 },
      { at: 1, hertz: 784, seconds: 0.22 },
      { at: 1.2, hertz: 987.8, seconds: 0.6 },
    ],
  },
  outgoing: { everyMs: 4000, volume: 0.08, tones: [{ at: 0, hertz: 440, seconds: 1 }] },
}

/** Only one tab of the browser rings aloud. */
const LOCK = 'sotto-ring'

/** Rings until the returned function is called. `title` is shown in the title of the page. */
export function ring(kind: Ring, title?: string): () => void {
  const stops = [sound(kind)]
  if (title !== undefined) stops.push(showTitle(title), vibrate())
  return () => {
    for (const stop of stops) stop()
  }
}

function sound(kind: Ring): () => void {
  const { everyMs, volume, tones } = PATTERNS[kind]
  const context = new AudioContext()
  const ended = new AbortController()
  const play = (): void => {
    for (const tone of tones) playTone(context, tone, volume)
  }
  const playUntilEnd = (): Promise<void> =>
    new Promise((resolve) => {
      play()
      const timer = setInterval(play, everyMs)
      ended.signal.addEventListener('abort', () => {
        clearInterval(timer)
        resolve()
      })
    })
  // A page that the user has not touched yet may not make a sound. It may as soon as it is touched.
  const begin = (): void => {
    if (context.state !== 'running' || ended.signal.aborted) return
    context.removeEventListener('statechange', begin)
    navigator.locks.request(LOCK, { signal: ended.signal }, playUntilEnd).catch((error: unknown) => {
      // The call was over before this tab's turn.
      if (!ended.signal.aborted) throw error
    })
  }
  const resume = (): void => void context.resume()
  context.addEventListener('statechange', begin)
  for (const touch of ['pointerup', 'keydown']) addEventListener(touch, resume, { signal: ended.signal })
  begin()
  return () => {
    ended.abort()
    void context.close()
  }
}

function playTone(context: AudioContext, { at, hertz, seconds }: Tone, loudness: number): void {
  const from = context.currentTime + at
  const tone = context.createOscillator()
  const volume = context.createGain()
  tone.type = 'triangle'
  tone.frequency.value = hertz
  // Without these ramps, each tone would begin and end with a click.
  volume.gain.setValueAtTime(0, from)
  volume.gain.linearRampToValueAtTime(loudness, from + 0.02)
  volume.gain.linearRampToValueAtTime(0, from + seconds)
  tone.connect(volume).connect(context.destination)
  tone.start(from)
  tone.stop(from + seconds)
}

function showTitle(title: string): () => void {
  const before = document.title
  document.title = title
  return () => {
    if (document.title === title) document.title = before
  }
}

function vibrate(): () => void {
  const shake = (): void => {
    // A browser logs an error if a page vibrates before the user has touched it.
    if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.([500, 250, 500])
  }
  shake()
  const timer = setInterval(shake, 3000)
  return () => {
    clearInterval(timer)
    if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(0)
  }
}
