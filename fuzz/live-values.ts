// Values that a relay gave: tokens, ids, keys, links. Inputs name them by kind and number, such as ⟨order 3⟩,
// so that an input follows from its seed alone although a relay's values are random.
import { solve, WireAccount } from '../packages/relay/test/wire.ts'
import { Finding } from './inputs.ts'

/** The kinds that answers are searched for, by the name of the field. */
const KINDS: Readonly<Record<string, string>> = {
  ...{ alias_id: 'alias', uuid: 'uuid', conversation_id: 'conversation', friendship_id: 'friendship' },
  ...{ channel_id: 'channel', order_id: 'order', post_id: 'post', upload_id: 'upload', media_key: 'media' },
  ...{ etag: 'etag', challenge: 'challenge', challenge_string: 'pow', ticket: 'ticket' },
  ...{ invite_id: 'invite', upload_url: 'link', download_url: 'link', vapid_public_key: 'vapid' },
}
const PREFIXES: Readonly<Record<string, string>> = { ch_: 'channel', p_: 'post', ord_: 'order' }
const MOST_OF_A_KIND = 64
const MOST_TRIES = 10
const PLACE = /⟨(\w+) (\d+)⟩/g

/** Names a value of a kind. */
export const live = (kind: string, number: number): string => `⟨${kind} ${number}⟩`

export class LiveValues {
  readonly accounts: WireAccount[] = []
  readonly #url: string
  readonly #byKind = new Map<string, string[]>()
  readonly #renewing = new Map<number, Promise<void>>()

  constructor(url: string) {
    this.#url = url
  }

  /** Registers accounts and logs them in. */
  async addAccounts(count: number): Promise<void> {
    for (const made of await Promise.all(Array.from({ length: count }, () => this.#newAccount()))) {
      this.accounts.push(made)
      this.learn({ alias_id: made.alias, uuid: made.uuid })
    }
  }

  /** Logs an account in again, or registers another one in its place if it is gone. */
  renew(number: number): Promise<void> {
    const renewal = this.#renewing.get(number) ?? this.#renew(number)
    this.#renewing.set(number, renewal)
    return renewal.finally(() => this.#renewing.delete(number))
  }

  async #renew(number: number): Promise<void> {
    const account = this.accounts[number]
    if (account && (await account.get('/me')).status === 200) return
    if (account && (await account.login()) !== undefined) return
    const made = await this.#newAccount()
    this.accounts[number] = made
    this.learn({ alias_id: made.alias, uuid: made.uuid })
  }

  // At the difficulty of tests, any nonce solves some open challenge. So an input that names none can use up
  // the challenge of a registration of ours, which then is refused.
  async #newAccount(): Promise<WireAccount> {
    for (let tries = 1; ; tries++) {
      const account = new WireAccount(this.#url)
      const { status, text } = await account.register()
      if (status === 201) {
        await account.login()
        return account
      }
      if (tries === MOST_TRIES || !text.includes('"POW_')) throw new Finding(`no registration: ${text}`)
    }
  }

  /** Remembers the values of an answer. */
  learn(answer: unknown): void {
    if (typeof answer !== 'object' || answer === null) return
    for (const [field, value] of Object.entries(answer)) {
      if (typeof value === 'object') this.learn(value)
      else this.#learnOne(field, `${value}`)
    }
  }

  #learnOne(field: string, value: string): void {
    const prefix = /^[a-z]+_/.exec(value)?.[0] ?? ''
    const kind = KINDS[field] ?? (field === 'id' ? PREFIXES[prefix] : undefined)
    if (kind === undefined) return
    const known = this.#byKind.get(kind) ?? []
    this.#byKind.set(kind, known)
    known.push(kind === 'link' ? (value.split('/').at(-1) ?? '') : value)
    if (known.length > MOST_OF_A_KIND) known.shift()
  }

  /** Puts the values into a text that names them. A value that is not known yet becomes `none`. */
  fill(text: string): string {
    return text.includes('⟨')
      ? text.replaceAll(PLACE, (_, kind: string, number: string) => this.#valueOf(kind, Number(number)))
      : text
  }

  #valueOf(kind: string, number: number): string {
    const account = this.accounts[number % this.accounts.length]
    switch (kind) {
      case 'token':
        return account?.token ?? 'none'
      case 'signing-key':
        return account?.ed25519 ?? 'none'
      case 'signature':
        return account?.sign(this.#known('challenge', number)) ?? 'none'
      case 'nonce':
        return solve(this.#known('pow', number), 1)
      default:
        return this.#known(kind, number)
    }
  }

  #known(kind: string, number: number): string {
    const known = this.#byKind.get(kind) ?? []
    return known[number % known.length] ?? 'none'
  }
}
