// Every transition of a conversation's course under crypto_v 3: the rows of the table in its record
// (docs/decisions/0062), which the model counts.
import { ofFrames } from './of-frames.ts'
import { ofOwnMessages } from './of-own-messages.ts'
import { ofTheRelay } from './of-the-relay.ts'
import type { Transition } from './transition.ts'

export const transitions: readonly Transition[] = [...ofOwnMessages, ...ofFrames, ...ofTheRelay]
