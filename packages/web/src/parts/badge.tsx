// A number that waits for the user.
import { numberOf } from '../texts/dates.ts'
import './badge.css'

export function Badge({
  count,
  label,
  isMuted = false,
}: {
  readonly count: number
  readonly label: string
  readonly isMuted?: boolean
}) {
  return (
    <span class="badge number" data-muted={isMuted}>
      <span aria-hidden="true">{count > 999 ? '999+' : numberOf(count)}</span>
      <span class="spoken">{label}</span>
    </span>
  )
}
