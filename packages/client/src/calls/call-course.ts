// The course of a device's calls: by the table of `call-states.ts`, whose effects are carried out here.
import type { CallSignalFields } from '@sotto/crypto'
import { ClientError } from '../client-error.ts'
import type { Clock } from '../options.ts'
import {
  ANSWER_WITHIN_MS,
  type CallEffect,
  type CallEnd,
  type CallEvent,
  type CallState,
  callTransitions,
  MEDIA_WITHIN_MS,
  nextOf,
} from './call-states.ts'
import { FinishedCalls } from './finished-calls.ts'
import type { LastSignals } from './last-signals.ts'
import type { OneCall } from './one-call.ts'

/** What an event comes with. */
export interface Happening {
  /** The call that begins, or is refused. */
  readonly call?: OneCall
  readonly from?: string
  readonly fields?: CallSignalFields
}

/** What a course is made of. */
export interface CourseParts {
  readonly clock: Clock
  readonly lastSignals: LastSignals
  readonly onChange: () => void
  readonly onError: (error: unknown) => void
}

/** One call after another, each from state to state. */
export class CallCourse {
  readonly finished: FinishedCalls
  readonly #parts: CourseParts
  #state: CallState = 'idle'
  #call: OneCall | undefined
  #end: CallEnd | undefined
  #isVideoDropped = false
  #making: Promise<void> = Promise.resolve()
  #stopWaiting: () => void = () => {}

  constructor(parts: CourseParts) {
    this.#parts = parts
    this.finished = new FinishedCalls(parts.clock)
  }

  /** Where the latest call is; `idle` before there was one. */
  get state(): CallState {
    return this.#state
  }

  /** The latest call, over or not. */
  get call(): OneCall | undefined {
    return this.#call
  }

  /** Why the latest call is over, where it is. */
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

  /** Whether an event means anything now. */
  takes(event: CallEvent): boolean {
    return nextOf(this.#state, event) !== undefined
  }

  /** Takes an event: goes where the table says, and does what it says. */
  happen(event: CallEvent, happening: Happening = {}): void {
    const next = nextOf(this.#state, event)
    if (!next) return
    const before = this.#state
    this.#state = next.to
    // Before the effects: those may begin the next call.
    this.#end = next.end === 'declined' && happening.fields?.reason === 'busy' ? 'busy' : next.end
    for (const effect of next.effects) this.#carryOut(effect, happening)
    if (before !== next.to || next.effects.includes('begin')) this.#parts.onChange()
  }

  /** Resolves once the call's offer or answer is on its way. Rejects with what prevented it, which ends the call. */
  async made(call: OneCall): Promise<void> {
    try {
      await this.#making
    } catch (error) {
      if (this.#call === call) this.happen('failed')
      throw error
    }
  }

  /** Something a call needs could not be done, and nobody waits for it. */
  fail(call: OneCall, error: unknown): void {
    if (this.#call !== call || this.isFree) return
    this.happen('failed')
    this.#parts.onError(error)
  }

  /** Sends another track, or none, in the call there is. */
  async setTrack(...[kind, track]: Parameters<OneCall['setTrack']>): Promise<void> {
    const isOn = this.#state === 'calling' || this.#state === 'connecting' || this.#state === 'connected'
    if (!this.#call || !isOn) throw new ClientError('INVALID_ARGUMENT', 'there is no call')
    if (kind === 'video') this.#isVideoDropped = false
    await this.#call.setTrack(kind, track)
  }

  #carryOut(effect: CallEffect, { call: offered, from = '', fields = {} }: Happening): void {
    const { lastSignals } = this.#parts
    if (effect === 'begin') {
      this.#call = offered
      this.#isVideoDropped = false
      // What failed for the call before is not this one's.
      this.#making = Promise.resolve()
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
        this.#making = call.makeOffer()
        return
      case 'make_answer':
        this.#making = call.makeAnswer()
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
    this.#stopWaiting = this.#parts.clock.after(ms, () => this.happen('timeout'))
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
