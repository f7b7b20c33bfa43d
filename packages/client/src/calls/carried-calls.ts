// What crosses between a tab that has a call and the tab that runs the client, with its schemas.
import type { CallSignalRefusal } from '@sotto/crypto'
import { AliasId } from '@sotto/protocol'
import * as v from 'valibot'
import type { PartEvent } from '../module-part.ts'
import { type CallEnd, type CallState, callTransitions } from './call-states.ts'

/** Why a received signal was dropped. */
export type CallRefusal = CallSignalRefusal | 'UNKNOWN_CONTACT' | 'KEY_CHANGED' | 'UNKNOWN_EPOCH'

const Fields = v.record(v.string(), v.unknown())
/** See `CallParties`. */
const CallEpoch = v.optional(v.number())
const SignalType = v.picklist(['call_offer', 'call_answer', 'call_reject', 'call_ice', 'call_hangup'])

/** A signal to send. */
export const OutgoingSignal = v.object({
  type: SignalType,
  conversationId: v.string(),
  callId: v.string(),
  /** The alias that this side uses in this call. */
  from: AliasId,
  fields: Fields,
  callEpoch: CallEpoch,
})
/** See {@link OutgoingSignal}. */
export type OutgoingSignal = Readonly<v.InferOutput<typeof OutgoingSignal>>

/** Sends signals. */
export interface SignalSender {
  /** See `CallSignals.send`. */
  send(signal: OutgoingSignal): Promise<boolean>
}

/** A received signal that passed every check. */
const ReceivedSignal = v.object({
  type: SignalType,
  conversationId: v.string(),
  callId: v.string(),
  from: v.string(),
  fields: Fields,
  callEpoch: CallEpoch,
})
/** See {@link ReceivedSignal}. */
export type ReceivedSignal = Readonly<v.InferOutput<typeof ReceivedSignal>>

const SentMedia = v.object({ audio: v.boolean(), video: v.boolean() })
const States: v.GenericSchema<unknown, CallState> = v.pipe(
  v.string(),
  v.guard((state): state is string & CallState => Object.hasOwn(callTransitions, state)),
)

/** A call, as the tab that has it reports it to the others: a `CallInfo` without the stream. */
export const CarriedCall = v.object({
  id: v.string(),
  conversationId: v.string(),
  isCaller: v.boolean(),
  state: States,
  /** The build of the other tab is the same, so its words are, too. */
  end: v.exactOptional(v.custom<CallEnd>((end) => typeof end === 'string')),
  ownMedia: SentMedia,
  theirMedia: SentMedia,
  isVideoDropped: v.boolean(),
  /** This side's alias in this call. */
  ownAlias: AliasId,
  callEpoch: CallEpoch,
})
/** See {@link CarriedCall}. */
export type CarriedCall = Readonly<v.InferOutput<typeof CarriedCall>>

/** The two sides of a new call. */
export const CallSides = v.object({ conversationId: v.string(), ownAlias: AliasId, callEpoch: CallEpoch })

/** The secrets of a call's media under version 3. */
export const MediaSecrets = v.object({ own: v.instance(Uint8Array), theirs: v.instance(Uint8Array) })

/** The servers for a call's media. */
export const IceServers = v.object({
  servers: v.pipe(
    v.array(
      v.object({
        urls: v.union([v.string(), v.array(v.string())]),
        username: v.exactOptional(v.string()),
        credential: v.exactOptional(v.string()),
      }),
    ),
    v.readonly(),
  ),
  /** Whether media must go through these servers. */
  relayOnly: v.boolean(),
})
/** See {@link IceServers}. */
export type IceServers = Readonly<v.InferOutput<typeof IceServers>>

/** A call that one tab has. */
export const HeldCall = v.object({ tab: v.string(), call: CarriedCall })
/** See {@link HeldCall}. */
export type HeldCall = Readonly<v.InferOutput<typeof HeldCall>>

/** A signal arrived: for the tab that has the call or, if none has one, for all. */
export const signalArrived = event(
  'calls.signal',
  v.object({ signal: ReceivedSignal, tab: v.optional(v.string()) }),
)
/** A signal was dropped. */
export const signalRefused = event(
  'calls.refused',
  v.object({ from: v.string(), reason: v.custom<CallRefusal>((reason) => typeof reason === 'string') }),
)
/** The relay refused a signal that this side sent. */
export const relayRefused = event(
  'calls.relay_refused',
  v.object({ callId: v.optional(v.string()), code: v.string() }),
)
/** The keys of these conversations have changed. */
export const keysChanged = event('calls.keys_changed', v.object({ conversationIds: v.array(v.string()) }))
/** No signals can be sent any more: locked, closed, another identity. */
export const stopped = event('calls.stopped', v.object({}))
/** A tab reports its call. */
export const callReported = event('calls.reported', HeldCall)
/** The user hangs up in another tab than the one that has the call. */
export const hangUpAsked = event('calls.hang_up', v.object({ callId: v.string() }))

function event<E>(name: string, schema: v.GenericSchema<unknown, E>): PartEvent<E> {
  return { name, schema }
}

/** Whether a call in this state is over. */
export function isOver(state: CallState): boolean {
  return callTransitions[state].call !== undefined
}
