// Tells the list of channels and an open channel of each other's changes.
import { signal } from '@preact/signals'

/** Counts the changes that this page made to the user's channels. */
export const changes = signal(0)

/** The user's channels have changed: they are read again. */
export function channelsChanged(): void {
  changes.value += 1
}
