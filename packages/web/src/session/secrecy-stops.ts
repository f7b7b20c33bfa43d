// The conversations whose forward secrecy waits for the user's word.
import { signal } from '@preact/signals'
import type { SecrecyStop } from '@sotto/client'

/** What each of them waits for, by the id of the conversation. */
export const secrecyStops = signal<ReadonlyMap<string, SecrecyStop>>(new Map())
