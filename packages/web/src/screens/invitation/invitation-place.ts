// The place of the app that asks about an invitation.
import type { Invitation } from '../../session/invitation.ts'
import { href } from '../../session/route.ts'

/** The address of the place for an invitation that was scanned or pasted. */
export function placeOf({ alias, relayUrl }: Invitation): string {
  return `${href('add', alias)}?${new URLSearchParams({ relay: relayUrl })}`
}
