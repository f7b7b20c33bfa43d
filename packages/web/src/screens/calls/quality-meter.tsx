// How good the connection of a call is: in bars and a word, with the figures on request.
import type { CallQuality } from '@sotto/client/browser'
import { callsTexts } from '../../texts/calls.ts'
import { numberOf, percentOf } from '../../texts/dates.ts'
import './quality-meter.css'

const BARS = { poor: 1, fair: 2, good: 3 }

export function QualityMeter({ quality }: { readonly quality: CallQuality }) {
  const { level, loss, roundTripMs, isRelayed, codecs } = quality
  const t = callsTexts.value
  const words = t.qualityDetails
  const figures = [
    isRelayed !== undefined && [words.way, isRelayed ? words.relayed : words.direct],
    roundTripMs !== undefined && [words.roundTrip, words.milliseconds(numberOf(roundTripMs))],
    loss !== undefined && [words.loss, percentOf(loss)],
    codecs.length > 0 && [words.codecs, codecs.join(', ')],
  ]
  return (
    <details class="quality" data-level={level}>
      <summary>
        <svg class="quality-bars" viewBox="0 0 16 16" aria-hidden="true">
          {[1, 2, 3].map((bar) => (
            <path
              key={bar}
              d={`M${bar * 5 - 4} 15v-${bar * 4 + 1}h3v${bar * 4 + 1}z`}
              data-on={bar <= BARS[level]}
            />
          ))}
        </svg>
        {t.quality[level]}
      </summary>
      <dl class="small">
        {figures.map(
          (figure) =>
            figure && (
              <div key={figure[0]}>
                <dt>{figure[0]}</dt>
                <dd>
                  <bdi>{figure[1]}</bdi>
                </dd>
              </div>
            ),
        )}
      </dl>
    </details>
  )
}
