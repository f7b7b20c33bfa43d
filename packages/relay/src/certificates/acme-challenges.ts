// The answers to the questions of an ACME server on port 80, while they wait. With PostgreSQL they are in the
// store, because the question may reach another node than the one that ordered.
import type { Clock } from '../operations/clock.ts'
import type { Storage } from '../storage/storage.ts'

/** Longer than an order takes. An answer that is older was left by a node that died. */
const LEFT_AFTER_MS = 3_600_000

export class AcmeChallenges {
  readonly #storage: Storage
  readonly #clock: Clock
  readonly #own = new Map<string, string>()
  /** The read that has not begun. All questions until then share it, because anybody can ask. */
  #next: Promise<ReadonlyMap<string, string>> | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(parts: { readonly storage: Storage; readonly clock: Clock }) {
    this.#storage = parts.storage
    this.#clock = parts.clock
  }

  /** Resolves once every node gives this answer. */
  async set(token: string, answer: string): Promise<void> {
    this.#own.set(token, answer)
    if (!this.#isShared) return
    const now = this.#clock.now()
    await this.#storage.unsyncedTransaction(async (sql) => {
      await sql`DELETE FROM acme_challenges WHERE at < ${now - LEFT_AFTER_MS}`
      await sql`
        INSERT INTO acme_challenges (token, answer, at) VALUES (${token}, ${answer}, ${now})
        ON CONFLICT (token) DO UPDATE SET answer = excluded.answer, at = excluded.at`
    })
  }

  async delete(token: string): Promise<void> {
    this.#own.delete(token)
    if (this.#isShared)
      await this.#storage.unsyncedTransaction(
        (sql) => sql`DELETE FROM acme_challenges WHERE token = ${token}`,
      )
  }

  async find(token: string): Promise<string | undefined> {
    const own = this.#own.get(token)
    if (own !== undefined || !this.#isShared) return own
    this.#next ??= this.#readNext()
    return (await this.#next).get(token)
  }

  get #isShared(): boolean {
    return this.#storage.engine.dialect === 'postgres'
  }

  async #readNext(): Promise<ReadonlyMap<string, string>> {
    await this.#last.catch(() => undefined)
    this.#next = undefined
    const reading = this.#storage.sql<{
      token: string
      answer: string
    }>`SELECT token, answer FROM acme_challenges`
    this.#last = reading
    return new Map((await reading).map(({ token, answer }) => [token, answer]))
  }
}
