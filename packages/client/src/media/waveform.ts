// The waveform of a voice message, from its decoded audio.
import type { MediaSource } from './pieces.ts'

/** How many samples a waveform has. */
const SAMPLES = 64
const LOUDEST = 100
/** The lowest rate that every browser decodes to. A waveform needs no more. */
const RATE_HZ = 8000
/** What is longer or larger gets no waveform: it would be decoded in memory, 32 kB for a second. */
const MAX_DURATION_MS = 15 * 60_000
const MAX_BYTES = 16 * 1024 * 1024

/**
 * The waveform of a recording. Undefined outside of pages, for a stream, a recording of more than 15 minutes
 * or 16 MiB, and one that this browser cannot decode: it can be sent all the same.
 */
export async function describeVoice(
  source: MediaSource,
  durationMs: number,
): Promise<readonly number[] | undefined> {
  if (typeof OfflineAudioContext !== 'function' || source instanceof ReadableStream) return undefined
  const recording = source instanceof Blob ? source : new Blob([source])
  if (recording.size > MAX_BYTES || durationMs > MAX_DURATION_MS) return undefined
  const context = new OfflineAudioContext(1, 1, RATE_HZ)
  const bytes = await recording.arrayBuffer()
  const audio = await context.decodeAudioData(bytes).catch(() => undefined)
  return audio && waveformOf(audio.getChannelData(0))
}

/**
 * The waveform of decoded audio, for messages: the peaks of up to 64 equal parts, as whole numbers from 0 to
 * 100, the loudest part 100. `audio` has values from -1 to 1. Undefined if it is empty.
 */
export function waveformOf(audio: Float32Array): readonly number[] | undefined {
  const count = Math.min(SAMPLES, audio.length)
  const peaks = Array.from({ length: count }, (_, part) => {
    const [from, to] = [part, part + 1].map((at) => Math.floor((at * audio.length) / count))
    let peak = 0
    for (const value of audio.subarray(from, to))
      if (Math.abs(value) > peak) peak = Math.min(1, Math.abs(value))
    return peak
  })
  const loudest = Math.max(...peaks) || 1
  return count === 0 ? undefined : peaks.map((peak) => Math.round((peak / loudest) * LOUDEST))
}
