// A call of this tab that waits for its answer, whichever tab gives it.

import type { SottoClient } from '../client.ts'
import { ClientError } from '../client-error.ts'
import type { Clock } from '../options.ts'
import { nameOf, type TabMethod } from './methods.ts'

/** A call, as those see it who do not care what it answers. */
export interface WaitingCall {
  readonly id: string
  readonly name: string
  readonly args: readonly unknown[]
  /** Whether it was asked before, so that it may have been done already. */
  wasAsked: boolean
  /** Whether it may be asked again where it may have been done. */
  readonly mayRepeat: boolean
  /** Runs it here. Resolves once that has ended; a failure counts only while `isValid` says so. */
  runOn(client: SottoClient, isValid: () => boolean): Promise<void>
  /** Settles it with an answer as another tab sent it. */
  settleCarried(answer: unknown): void
  fail(error: ClientError): void
  /** Fails it unless it is settled within `ms`, or is given another time. */
  expectWithin(ms: number): void
  /** Lets it take as long as it takes. */
  expectSometime(): void
  onSettled(run: () => void): void
}

/** A call and the promise of its answer. */
export class Call<A extends readonly unknown[], R> implements WaitingCall {
  readonly id: string
  readonly name: string
  readonly args: A
  readonly answer: Promise<R>
  wasAsked = false
  readonly mayRepeat: boolean
  readonly #method: TabMethod<A, R>
  readonly #clock: Clock
  readonly #resolve: (answer: R) => void
  readonly #reject: (error: ClientError) => void
  #cancelTimer: (() => void) | undefined

  constructor(id: string, method: TabMethod<A, R>, args: A, clock: Clock) {
    const { promise, resolve, reject } = Promise.withResolvers<R>()
    this.id = id
    this.name = nameOf(method)
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
        new ClientError('BAD_REPLY', `another tab answered what ${this.name} never answers`, { cause }),
      )
    }
  }

  fail(error: ClientError): void {
    this.expectSometime()
    this.#reject(error)
  }

  expectWithin(ms: number): void {
    this.expectSometime()
    this.#cancelTimer = this.#clock.after(ms, () => {
      this.fail(
        new ClientError(
          'NO_ANSWER',
          `no tab answered ${this.name} in time; it may have been done all the same`,
        ),
      )
    })
  }

  expectSometime(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  onSettled(run: () => void): void {
    this.answer.then(run, run)
  }

  #settle(answer: R): void {
    this.expectSometime()
    this.#resolve(answer)
  }
}
