// The calls of this tab that wait for an answer.
import type { ClientError } from '../client-error.ts'
import type { WaitingCall } from './call.ts'
import { toClientError } from './carried-error.ts'
import type { TabMessage } from './tab-channel.ts'

/** A call no tab has taken on within this time fails. Opening a large store takes a while. */
const TAKEN_WITHIN_MS = 15_000
/** A call that was taken on fails after this; the client itself gives up on a relay much earlier. */
const ANSWERED_WITHIN_MS = 180_000

type Reply = Extract<TabMessage, { type: 'taken' | 'answer' | 'failure' }>

/** Calls by id, until they are settled. */
export class Calls {
  readonly #calls = new Map<string, WaitingCall>()

  add(call: WaitingCall): void {
    this.#calls.set(call.id, call)
    call.onSettled(() => this.#calls.delete(call.id))
  }

  /** All that wait, in the order they were made. */
  waiting(): readonly WaitingCall[] {
    return [...this.#calls.values()]
  }

  /** Bounds the wait for a tab that takes the call on. */
  startWaiting(call: WaitingCall): void {
    call.expectWithin(TAKEN_WITHIN_MS)
  }

  /** After a freeze, all times set before it are over at once. */
  startWaitingAgain(): void {
    for (const call of this.#calls.values()) this.startWaiting(call)
  }

  /** Takes what another tab says to a call; it may be one of a third tab. */
  hear(reply: Reply): void {
    const call = this.#calls.get(reply.id)
    if (reply.type === 'taken') call?.expectWithin(ANSWERED_WITHIN_MS)
    else if (reply.type === 'answer') call?.settleCarried(reply.answer)
    else call?.fail(toClientError(reply.error))
  }

  failAll(error: ClientError): void {
    for (const call of this.waiting()) call.fail(error)
  }
}
