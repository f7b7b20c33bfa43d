// A recording by the microphone, for a voice message. The microphone is used only while it is recorded.
import { type ReadonlySignal, signal } from '@preact/signals'
import { ClientError } from '@sotto/client'

/** The preferred formats: small, and played by most browsers. */
const FORMATS = ['audio/webm;codecs=opus', 'audio/mp4', 'audio/ogg;codecs=opus']
/** Enough for a voice: 4 kB a second. */
const BITS_PER_SECOND = 32_000
const LOOK_MS = 100
/** A recording pauses at this length. */
const LONGEST_MS = 15 * 60_000

/** What was recorded. */
export interface Recorded {
  readonly blob: Blob
  readonly durationMs: number
}

export class Recording {
  readonly #stream: MediaStream
  readonly #recorder: MediaRecorder
  readonly #audio: AudioContext
  readonly #pieces: Blob[] = []
  readonly #durationMs = signal(0)
  readonly #level = signal(0)
  readonly #isPaused = signal(false)
  readonly #timer: ReturnType<typeof setInterval>
  /** The time of the last look, while it runs. */
  #lookedAtMs = performance.now()

  /**
   * Asks for the microphone and records.
   * @throws ClientError `UNSUPPORTED` if the browser records nothing, DOMException if there is no microphone,
   *   or it is not allowed
   */
  static async start(): Promise<Recording> {
    const mimeType = FORMATS.find((format) => globalThis.MediaRecorder?.isTypeSupported(format))
    if (mimeType === undefined || !navigator.mediaDevices)
      throw new ClientError('UNSUPPORTED', 'this browser cannot record sound')
    return new Recording(await navigator.mediaDevices.getUserMedia({ audio: true }), mimeType)
  }

  private constructor(stream: MediaStream, mimeType: string) {
    this.#stream = stream
    this.#recorder = new MediaRecorder(stream, { mimeType, audioBitsPerSecond: BITS_PER_SECOND })
    this.#recorder.ondataavailable = ({ data }) => this.#pieces.push(data)
    this.#audio = new AudioContext()
    const analyser = this.#audio.createAnalyser()
    this.#audio.createMediaStreamSource(stream).connect(analyser)
    const samples = new Uint8Array(analyser.fftSize)
    this.#timer = setInterval(() => {
      analyser.getByteTimeDomainData(samples)
      this.#look(samples)
    }, LOOK_MS)
    this.#recorder.start()
  }

  /** How long it is. */
  get durationMs(): ReadonlySignal<number> {
    return this.#durationMs
  }

  /** How loud it is now, from 0 to 1. */
  get level(): ReadonlySignal<number> {
    return this.#level
  }

  get isPaused(): ReadonlySignal<boolean> {
    return this.#isPaused
  }

  pause(): void {
    if (this.#recorder.state !== 'recording') return
    this.#recorder.pause()
    this.#isPaused.value = true
    this.#level.value = 0
  }

  resume(): void {
    if (this.#recorder.state !== 'paused' || this.#durationMs.value >= LONGEST_MS) return
    this.#lookedAtMs = performance.now()
    this.#recorder.resume()
    this.#isPaused.value = false
  }

  /** Ends it. */
  async stop(): Promise<Recorded> {
    const { mimeType } = this.#recorder
    const ended = new Promise((resolve) => this.#recorder.addEventListener('stop', resolve, { once: true }))
    this.#recorder.stop()
    await ended
    this.cancel()
    return {
      blob: new Blob(this.#pieces, { type: mimeType }),
      durationMs: Math.round(this.#durationMs.value),
    }
  }

  /** Gives the microphone back. */
  cancel(): void {
    clearInterval(this.#timer)
    for (const track of this.#stream.getTracks()) track.stop()
    if (this.#audio.state !== 'closed') void this.#audio.close()
  }

  #look(samples: Uint8Array): void {
    const nowMs = performance.now()
    if (this.#recorder.state === 'recording') {
      this.#durationMs.value += nowMs - this.#lookedAtMs
      this.#level.value = Math.min(1, Math.max(...samples.map((each) => Math.abs(each - 128))) / 100)
    }
    this.#lookedAtMs = nowMs
    if (this.#durationMs.value >= LONGEST_MS) this.pause()
  }
}
