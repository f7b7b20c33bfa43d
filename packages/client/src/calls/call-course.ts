// Runs the calls of a device: follows the table of `call-states.ts` and carries out its effects.
import type { CallSignalFields } from '@sotto/crypto'
import { ClientError } from '../client-error.ts'
import type { Clock } from '../platform/platform.ts'
import {
  ANSWER_WITHIN_MS,
  type CallEffect,
  type CallEnd,
  type CallEvent,
  type CallState,
  type CallTransition,
  callTransitions,
  MEDIA_WITHIN_MS,
  nextOf,
} from './call-states.ts'
import { FinishedCalls } from './finished-calls.ts'
import type { LastSignals } from './last-signals.ts'
import type { OneCall } from './one-call.ts'

/** The details of an event. */
export interface EventDetails {
  /** The call that begins or is refused. */
  readonly call?: OneCall
  readonly from?: string
  readonly fields?: CallSignalFields
}

export interface CourseParts {
  readonly clock: Clock
  readonly lastSignals: LastSignals
  readonly onChange: () => void
  readonly onError: (error: unknown) => void
}

/** The state machine of the calls, of which there is one at a time. */
export class CallCourse {
  readonly finished: FinishedCalls
  readonly #parts: CourseParts
  #state: CallState = 'idle'
  #call: OneCall | undefined
  #end: CallEnd | undefined
  #isVideoDropped = false
  #wasConnected = false
  /** Resolves once the current call's offer or answer is sent. */
  #signalling: Promise<void> = Promise.resolve()
  #stopWaiting: () => void = () => {}

  constructor(parts: CourseParts) {
    this.#parts = parts
    this.finished = new FinishedCalls(parts.clock)
  }

  /** The state of the latest call; `idle` before the first. */
  get state(): CallState {
    return this.#state
  }

  /** The latest call, whether it has ended or not. */
  get call(): OneCall | undefined {
    return this.#call
  }

  /** Why the latest call ended; undefined while it has not. */
  get end(): CallEnd | undefined {
    return this.#end
  }

  get isVideoDropped(): boolean {
    return this.#isVideoDropped
  }

  /** Whether another call can begin. */
  get isFree(): boolean {
    return callTransitions[this.#state].call !== undefined
  }

  /** Handles an event: changes the state and carries out the effects, as the table says. */
  handle(event: CallEvent, details: EventDetails = {}): void {
    const next = nextOf(this.#state, event)
    if (!next) return
    const before = this.#state
    this.#state = next.to
    // Set before the effects, as they may begin the next call.
    this.#end = this.#endOf(next, details)
    if (next.to === 'connected') this.#wasConnected = true
    for (const effect of next.effects) this.#carryOut(effect, details)
    if (before !== next.to || next.effects.includes('begin')) this.#parts.onChange()
  }

  /** Resolves once the call's offer or answer is sent. An error ends the call and is thrown. */
  async signalled(call: OneCall): Promise<void> {
    try {
      await this.#signalling
    } catch (error) {
      if (this.#call === call) this.handle('failed')
      throw error
    }
  }

  /** Ends a call after a failed step that nobody waits for, and reports the error. */
  fail(call: OneCall, error: unknown): void {
    if (this.#call !== call || this.isFree) return
    this.handle('failed')
    this.#parts.onError(error)
  }

  /** Sends another track, or none, in the current call. */
  async setTrack(...[kind, track]: Parameters<OneCall['setTrack']>): Promise<void> {
    const isOn = this.#state === 'calling' || this.#state === 'connecting' || this.#state === 'connected'
    if (!this.#call || !isOn) throw new ClientError('INVALID_ARGUMENT', 'there is no call')
    if (kind === 'video') this.#isVideoDropped = false
    await this.#call.setTrack(kind, track)
  }

  #endOf({ end }: CallTransition, { fields }: EventDetails): CallEnd | undefined {
    if (end === 'declined' && fields?.reason === 'busy') return 'busy'
    return end === 'no_media' && this.#wasConnected ? 'connection_lost' : end
  }

  #carryOut(effect: CallEffect, { call: offered, from = '', fields = {} }: EventDetails): void {
    const { lastSignals } = this.#parts
    if (effect === 'begin') {
      this.#call = offered
      this.#isVideoDropped = false
      this.#wasConnected = false
      // An error of the previous call does not belong to this one.
      this.#signalling = Promise.resolve()
      return
    }
    if (effect === 'send_busy') {
      if (offered) lastSignals.send(offered.lastSignal('call_reject', { reason: 'busy' }))
      return
    }
    const call = this.#call
    if (!call) return
    switch (effect) {
      case 'make_offer':
        this.#signalling = call.makeOffer()
        return
      case 'make_answer':
        this.#signalling = call.makeAnswer()
        return
      case 'take_answer':
        if (!call.takeAnswer(from, fields)) this.fail(call, noAnswer())
        return
      case 'take_candidate':
        return call.takeIce(fields)
      case 'send_reject':
        return lastSignals.send(call.lastSignal('call_reject'))
      case 'send_hangup':
        return lastSignals.send(call.lastSignal('call_hangup'))
      case 'send_again':
        return call.sendAgain()
      case 'restart_media':
        return call.restartMedia()
      case 'drop_video':
        return this.#dropVideo(call)
      case 'wait_for_answer':
        return this.#waitFor(ANSWER_WITHIN_MS)
      case 'wait_for_media':
        return this.#waitFor(MEDIA_WITHIN_MS)
      case 'stop_waiting':
        this.#stopWaiting()
        return call.settle()
      case 'close':
        this.#stopWaiting()
        this.finished.add(call.parties.id)
        return call.close()
    }
  }

  #waitFor(ms: number): void {
    this.#stopWaiting()
    this.#stopWaiting = this.#parts.clock.after(ms, () => this.handle('timeout'))
  }

  #dropVideo(call: OneCall): void {
    if (!call.ownMedia.video) return
    this.#isVideoDropped = true
    call.setTrack('video', null).catch((error: unknown) => this.fail(call, error))
  }
}

function noAnswer(): ClientError {
  return new ClientError('BAD_REPLY', 'the other side answered without a description')
}
