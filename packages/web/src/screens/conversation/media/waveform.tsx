// How loud a voice message is over its time. It is also the slider of its position.
import { lengthOf } from '../../../texts/dates.ts'
import { mediaTexts } from '../../../texts/media.ts'

/** The waveform of a message that says nothing about its loudness. */
const EVEN = Array.from({ length: 40 }, () => 30)
/** The heights of the drawing, in its own units. */
const HEIGHT = 32
const LOUDEST = 100
const STEP = 5
/** An arrow key moves by a twentieth, but by a second at least. */
const STEPS = 20

interface WaveformProps {
  readonly samples: readonly number[] | undefined
  readonly positionMs: number
  readonly durationMs: number
  readonly tabIndex: number
  readonly onSeek: (toMs: number) => void
}

export function Waveform({ samples = EVEN, positionMs, durationMs, tabIndex, onSeek }: WaveformProps) {
  const t = mediaTexts.value
  const played = durationMs > 0 ? positionMs / durationMs : 0
  return (
    <span class="waveform">
      <svg viewBox={`0 0 ${samples.length * STEP} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {samples.map((sample, at) => {
          const height = Math.max(3, (sample / LOUDEST) * HEIGHT)
          return (
            <rect
              key={at}
              x={at * STEP + 1}
              y={(HEIGHT - height) / 2}
              width={STEP - 2}
              height={height}
              rx={1.5}
              data-played={(at + 0.5) / samples.length <= played}
            />
          )
        })}
      </svg>
      <input
        type="range"
        min={0}
        max={durationMs}
        step={Math.max(1000, durationMs / STEPS)}
        value={positionMs}
        tabIndex={tabIndex}
        aria-label={t.position}
        aria-valuetext={t.positionOf(lengthOf(positionMs), lengthOf(durationMs))}
        onInput={({ currentTarget }) => onSeek(Number(currentTarget.value))}
        // The list of messages has other uses for arrows.
        onKeyDown={(event) => event.stopPropagation()}
      />
    </span>
  )
}
