// A request of this tab that waits for its answer, from this tab or another.
import type { SottoClient } from '../client.ts'
import { ClientError } from '../client-error.ts'
import { type Clock, deferred } from '../platform/platform.ts'
import type { TabMethod } from '../tab-method.ts'

/** A request, without the type of its answer. */
export interface WaitingRequest {
  readonly id: string
  readonly name: string
  readonly args: readonly unknown[]
  /** Whether a leader has been asked before, so that the method may have run already. */
  wasAsked: boolean
  /** Whether it may be requested again if it may have run already. */
  readonly mayRepeat: boolean
  /**
   * Runs it in this tab; resolves once that has ended. A failure is ignored unless `isValid` answers true.
   */
  runOn(client: SottoClient, isValid: () => boolean): Promise<void>
  /** Settles it with the answer that another tab sent. */
  settleCarried(answer: unknown): void
  fail(error: ClientError): void
  /** Fails it unless it is settled within `ms`. Replaces the previous time-out. */
  setTimeout(ms: number): void
  /** Lets it take any time. */
  cancelTimeout(): void
  onSettled(run: () => void): void
}

/** A request and the promise of its answer. */
export class TabRequest<A extends readonly unknown[], R> implements WaitingRequest {
  readonly id: string
  readonly name: string
  readonly args: A
  readonly answer: Promise<R>
  wasAsked = false
  readonly mayRepeat: boolean
  readonly #method: TabMethod<SottoClient, A, R>
  readonly #clock: Clock
  readonly #resolve: (answer: R) => void
  readonly #reject: (error: ClientError) => void
  #cancelTimer: (() => void) | undefined

  constructor(id: string, method: TabMethod<SottoClient, A, R>, args: A, clock: Clock) {
    const { promise, resolve, reject } = deferred<R>()
    this.id = id
    this.name = method.name
    this.args = args
    this.answer = promise
    this.mayRepeat = method.mayRepeat(args)
    this.#method = method
    this.#clock = clock
    this.#resolve = resolve
    this.#reject = reject
  }

  async runOn(client: SottoClient, isValid: () => boolean): Promise<void> {
    try {
      this.#settle(await this.#method.run(client, this.args, this.wasAsked))
    } catch (error) {
      if (error instanceof ClientError && isValid()) this.fail(error)
    }
  }

  settleCarried(carried: unknown): void {
    try {
      this.#settle(this.#method.readAnswer(carried))
    } catch (cause) {
      this.fail(
        new ClientError('BAD_REPLY', `another tab sent an answer that ${this.name} cannot have`, { cause }),
      )
    }
  }

  fail(error: ClientError): void {
    this.cancelTimeout()
    this.#reject(error)
  }

  setTimeout(ms: number): void {
    this.cancelTimeout()
    this.#cancelTimer = this.#clock.after(ms, () => {
      this.fail(
        new ClientError(
          'NO_ANSWER',
          `no tab answered ${this.name} in time; it may have been done nevertheless`,
        ),
      )
    })
  }

  cancelTimeout(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  onSettled(run: () => void): void {
    this.answer.then(run, run)
  }

  #settle(answer: R): void {
    this.cancelTimeout()
    this.#resolve(answer)
  }
}
