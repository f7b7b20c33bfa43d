// Who may use the admin page: links that are good once, and the sessions that they begin. Both are in memory
// only, so they end with the relay.
import { createHash } from 'node:crypto'
import type { Clock } from '../operations/clock.ts'
import { type RandomBytes, randomText } from '../operations/random.ts'

const SECRET_BYTES = 32
/** How long a link is good. */
export const LINK_SECONDS = 300
/** How long a session lasts. */
export const SESSION_SECONDS = 8 * 3600
/** So many links and so many sessions there are at most. A further one ends the oldest. */
const MOST = 16

interface Grant {
  /** Who asked for the link: the operator's name. */
  readonly who: string
  /** Monotonic milliseconds. */
  readonly endsAt: number
}

export class AdminSessions {
  readonly #clock: Clock
  readonly #randomBytes: RandomBytes
  /** By the hash of the secret, oldest first. */
  readonly #links = new Map<string, Grant>()
  readonly #sessions = new Map<string, Grant>()

  constructor({ clock, randomBytes }: { clock: Clock; randomBytes: RandomBytes }) {
    this.#clock = clock
    this.#randomBytes = randomBytes
  }

  /** Makes the secret of a link for this operator. */
  makeLink(who: string): string {
    return this.#add(this.#links, who, LINK_SECONDS)
  }

  /** Begins a session with the secret of a link, which is good once. @returns the session's own secret */
  begin(secret: string): string | undefined {
    const key = hashOf(secret)
    const link = this.#find(this.#links, key)
    this.#links.delete(key)
    return link && this.#add(this.#sessions, link.who, SESSION_SECONDS)
  }

  /** The operator whose session has this secret. */
  whoHas(secret: string): string | undefined {
    return this.#find(this.#sessions, hashOf(secret))?.who
  }

  end(secret: string): void {
    this.#sessions.delete(hashOf(secret))
  }

  endAll(): void {
    this.#links.clear()
    this.#sessions.clear()
  }

  /** Whether there is a link or a session that somebody may still use. */
  get isNeeded(): boolean {
    const isGood = ({ endsAt }: Grant): boolean => endsAt > this.#clock.monotonic()
    return [...this.#links.values(), ...this.#sessions.values()].some(isGood)
  }

  #add(grants: Map<string, Grant>, who: string, seconds: number): string {
    const [oldest] = grants.keys()
    if (grants.size >= MOST && oldest !== undefined) grants.delete(oldest)
    const secret = randomText(this.#randomBytes, SECRET_BYTES)
    grants.set(hashOf(secret), { who, endsAt: this.#clock.monotonic() + seconds * 1000 })
    return secret
  }

  #find(grants: ReadonlyMap<string, Grant>, key: string): Grant | undefined {
    const grant = grants.get(key)
    return grant && grant.endsAt > this.#clock.monotonic() ? grant : undefined
  }
}

// What a guess is compared with must not depend on how much of it is right.
function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url')
}
