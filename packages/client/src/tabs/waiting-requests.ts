// The requests of this tab that wait for an answer.
import type { ClientError } from '../client-error.ts'
import { toClientError } from './carried-error.ts'
import type { TabMessage } from './tab-channel.ts'
import type { WaitingRequest } from './tab-request.ts'

/** A request fails if no tab accepts it within this time. Opening a large store takes a while. */
const ACCEPT_TIMEOUT_MS = 15_000
/** An accepted request fails after this time. The client's own time-out for the relay is much shorter. */
const ANSWER_TIMEOUT_MS = 180_000

type Reply = Extract<TabMessage, { type: 'taken' | 'answer' | 'failure' }>

/** Requests by id, until they are settled. */
export class WaitingRequests {
  readonly #requests = new Map<string, WaitingRequest>()

  add(request: WaitingRequest): void {
    this.#requests.set(request.id, request)
    request.onSettled(() => this.#requests.delete(request.id))
  }

  /** All waiting requests, in the order they were made. */
  waiting(): readonly WaitingRequest[] {
    return [...this.#requests.values()]
  }

  find(id: string): WaitingRequest | undefined {
    return this.#requests.get(id)
  }

  /** Fails the request unless a tab accepts it in time. */
  startTimeout(request: WaitingRequest): void {
    request.setTimeout(ACCEPT_TIMEOUT_MS)
  }

  /**
   * Gives every request its full time again. After a freeze, all timers that were set before would fire at
   * once.
   */
  restartTimeouts(): void {
    for (const request of this.#requests.values()) this.startTimeout(request)
  }

  /** Processes another tab's reply. It may be a reply to a third tab; it is ignored then. */
  receive(reply: Reply): void {
    const request = this.#requests.get(reply.id)
    if (reply.type === 'taken') request?.setTimeout(ANSWER_TIMEOUT_MS)
    else if (reply.type === 'answer') request?.settleCarried(reply.answer)
    else request?.fail(toClientError(reply.error))
  }

  failAll(error: ClientError): void {
    for (const request of this.waiting()) request.fail(error)
  }
}
