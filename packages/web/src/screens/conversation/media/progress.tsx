// How much of a transfer is done.
import { percentOf } from '../../../texts/dates.ts'
import { texts } from '../../../texts/texts.ts'

export function Progress({ part }: { readonly part: number }) {
  return (
    <progress
      class="media-progress"
      max={1}
      value={part}
      aria-label={texts.value.media.percent(percentOf(part))}
    />
  )
}
