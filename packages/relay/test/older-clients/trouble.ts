// What happens to the relay while the schedules run: it is killed and started again, and its clock moves past
// the life of messages.
import type { RelayProcess } from '../relay-process.ts'
import type { Eras } from './moments.ts'

/** Longer than the life of a message in these tests, {@link TROUBLED}. */
const LIFE_MS = 25 * 3_600_000
/**
 * The settings of such a relay. A token stays valid however far the clock moves. First messages wait as
 * long as by default.
 */
export const TROUBLED = {
  ...{ LIMIT_MESSAGE_LIFE_DAYS: '1', LIMIT_TOKEN_SECONDS: String(365 * 86_400) },
  LIMIT_UNLISTED_SECONDS: '30',
}
/** After so many schedules comes the next trouble: on a busy machine, too, some end between two. */
const EVERY_SCHEDULES = 60

/** Makes trouble until it is stopped. */
export class Trouble implements Eras {
  count = 0
  readonly #relay: RelayProcess
  #next = Promise.withResolvers<void>()
  #schedules = 0
  readonly #ended: Promise<void>
  #isStopped = false
  /** How many schedules must be left alone, and what goes on or waits for them to be done. */
  #inPeace = 0
  #allDone: (() => void) | undefined
  #trouble: Promise<void> | undefined
  readonly #returning = new Set<Promise<void>>()

  constructor(relay: RelayProcess) {
    this.#relay = relay
    this.#ended = this.#make()
  }

  ended(): void {
    this.#schedules += 1
    if (this.#schedules % EVERY_SCHEDULES === 0) this.#next.resolve()
  }

  returns(returned: Promise<void>): void {
    this.#returning.add(returned)
    void returned.then(() => this.#returning.delete(returned))
  }

  // A trouble that waits goes first, or there would be none while many schedules are at their ends.
  async inPeace<T>(work: () => Promise<T>): Promise<T> {
    while (this.#trouble) await this.#trouble
    this.#inPeace += 1
    try {
      return await work()
    } finally {
      this.#inPeace -= 1
      if (this.#inPeace === 0) this.#allDone?.()
    }
  }

  /** Waits for the end of what goes on. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#next.resolve()
    await this.#ended
  }

  async #make(): Promise<void> {
    for (let round = 1; ; round++) {
      await this.#next.promise
      this.#next = Promise.withResolvers()
      if (this.#isStopped) return
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#trouble = promise
      try {
        await this.#peaceIsOver()
        if (round % 2 === 0) await this.#restart()
        else await this.#moveClock()
      } finally {
        this.#trouble = undefined
        resolve()
      }
    }
  }

  #peaceIsOver(): Promise<void> | undefined {
    if (this.#inPeace === 0) return undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#allDone = resolve
    return promise
  }

  async #restart(): Promise<void> {
    await this.#relay.kill('SIGKILL')
    await this.#relay.start()
  }

  // What is written between the two eras may be of either time.
  async #moveClock(): Promise<void> {
    this.count += 1
    await this.#relay.letPass(LIFE_MS)
    await this.#restart()
    this.count += 1
    // Every other time messages expire before anybody is back, and else while their senders are connected.
    if (this.count % 4 === 0) await Promise.all(this.#returning)
    // The next trouble may be the end of this process.
    await this.#relay.maintain({ toTheEnd: true })
  }
}
