// How much of a transfer is done.
import { percentOf } from '../../../texts/dates.ts'
import { mediaTexts } from '../../../texts/media.ts'

export function Progress({ part }: { readonly part: number }) {
  return (
    <progress
      class="media-progress"
      max={1}
      value={part}
      aria-label={mediaTexts.value.percent(percentOf(part))}
    />
  )
}
