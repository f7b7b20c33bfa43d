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
/** Time for the clients to connect again, so that some messages expire while their senders are connected. */
const RETURNING_MS = 1500

/** Makes trouble until it is stopped. */
export class Trouble implements Eras {
  count = 0
  readonly #relay: RelayProcess
  #next = Promise.withResolvers<void>()
  #schedules = 0
  readonly #ended: Promise<void>
  #isStopped = false

  constructor(relay: RelayProcess) {
    this.#relay = relay
    this.#ended = this.#make()
  }

  ended(): void {
    this.#schedules += 1
    if (this.#schedules % EVERY_SCHEDULES === 0) this.#next.resolve()
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
      if (round % 2 === 0) await this.#relay.kill('SIGKILL')
      else await this.#moveClock()
      await this.#relay.start()
      if (round % 2 === 0) continue
      this.count += 1
      await Bun.sleep(RETURNING_MS)
      await this.#relay.maintain()
    }
  }

  // What is written between the two eras may be of either time.
  async #moveClock(): Promise<void> {
    this.count += 1
    await this.#relay.letPass(LIFE_MS)
    await this.#relay.kill('SIGKILL')
  }
}
