// The friends of one client: whom it writes to, unfriends or blocks, and how it makes friends again. It uses
// HTTP, one request at a time, while the client sends and receives: conversations are busy when they end.
//
// Not covered: requests go directly to a node and wait for their answer without a limit, so a missing
// answer means that the process died. The faulty wire delays only frames. Nobody rejects or withdraws a
// request.
import type { WireAccount } from '@sotto/relay/testing/wire'
import type { Ending, Errand, Frame, History, Listed } from './history.ts'
import { within } from './link.ts'
import type { Address } from './node.ts'
import type { Random } from './random.ts'

export type FallingOut = Extract<Errand, 'part' | 'block'>

interface Acquaintance {
  readonly alias: string
  conv: string | undefined
  friendship: number | undefined
  /** The client's own belief: the other side may have ended the friendship without notice. */
  isFriend: boolean
  hasAsked: boolean
  isBlocked: boolean
  isGone: boolean
  /** When the client makes friends again after a quarrel. */
  againMs: number
}

interface Parts {
  readonly account: WireAccount
  readonly client: number
  readonly history: History
  readonly random: Random
  readonly addresses: readonly Address[]
}

export class Circle {
  readonly #parts: Parts
  readonly #people = new Map<string, Acquaintance>()
  #isOut = false
  #pauseMs = 0
  #isInDoubt = false
  #wanted: FallingOut | undefined
  #onGone: (() => void) | undefined
  #mayBeGone = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** A person to befriend; with a conversation, they are already friends. */
  meet(alias: string, conv?: string): void {
    Object.assign(this.#know(alias), { conv, isFriend: conv !== undefined })
  }

  friends(): { to: string; conv_id: string }[] {
    return [...this.#people.values()].flatMap(({ alias, conv, isFriend }) =>
      isFriend && conv !== undefined ? [{ to: alias, conv_id: conv }] : [],
    )
  }

  aliasIn(conv: string): string | undefined {
    return [...this.#people.values()].find((one) => one.conv === conv)?.alias
  }

  fallOut(how: FallingOut): void {
    this.#wanted = how
  }

  leave(onGone: () => void): void {
    this.#onGone = onGone
  }

  get isLeaving(): boolean {
    return this.#onGone !== undefined
  }

  /** A frame contradicts the client's belief. */
  doubt(conv: string): void {
    for (const one of this.#people.values()) if (one.conv === conv) one.isFriend = false
    this.#isInDoubt = true
  }

  /** A friend frame is a hint: it may come late or never. */
  hear({ type, from = '', friendship_id: friendship, conv_id: conv }: Frame): void {
    const one = this.#know(from)
    Object.assign(one, { friendship, isFriend: type === 'friend_accepted' })
    if (type === 'friend_request') one.hasAsked = true
    if (conv) one.conv = conv
  }

  /** @param isQuiet from now on, it only finds out the present state */
  tick(now: number, isQuiet: boolean): void {
    if (this.#isOut || now < this.#pauseMs) return
    if (!isQuiet && this.#parts.random.chance(0.0005)) this.#isInDoubt = true
    if (!isQuiet && this.#parts.random.chance(0.001))
      this.#wanted ??= this.#parts.random.pick(['part', 'block'] as const)
    const errand = this.#next(now, isQuiet)
    if (!errand) return
    this.#isOut = true
    errand
      .catch(() => undefined) // The login failed and will be tried again.
      .finally(() => {
        this.#isOut = false
        this.#pauseMs = performance.now() + this.#parts.random.between(20, 150)
      })
  }

  #next(now: number, isQuiet: boolean): Promise<unknown> | undefined {
    if (this.#onGone) return this.#deleteAccount(this.#onGone)
    if (this.#isInDoubt) return this.#look()
    if (isQuiet) return undefined
    if (this.#wanted) return this.#end(this.#wanted)
    const due = [...this.#people.values()].find((one) => !one.isFriend && !one.isGone && one.againMs <= now)
    return due && this.#approach(due)
  }

  async #end(how: FallingOut): Promise<void> {
    const friends = [...this.#people.values()].filter(({ isFriend }) => isFriend)
    if (friends.length === 0) return
    const one = this.#parts.random.pick(friends)
    if (how === 'part' && one.friendship === undefined) return await this.#look()
    const ending =
      how === 'block'
        ? await this.#run('block', one.alias, { method: 'PUT', path: `/blocks/${one.alias}` })
        : await this.#run('part', one.alias, { method: 'DELETE', path: `/friends/${one.friendship}` })
    if (ending.error === 'NO_CONNECTION') return
    this.#wanted = undefined
    one.againMs = performance.now() + this.#parts.random.between(100, 1000)
    if (ending.outcome === 'refused') {
      if (ending.error === 'NOT_FOUND' && how === 'block')
        Object.assign(one, { isGone: true, isFriend: false })
      return
    }
    one.isFriend = false
    one.isBlocked = how === 'block'
    one.hasAsked = false
  }

  async #approach(one: Acquaintance): Promise<void> {
    one.againMs = performance.now() + this.#parts.random.between(200, 800)
    const { alias, friendship } = one
    if (one.isBlocked) {
      const ending = await this.#run('unblock', alias, { method: 'DELETE', path: `/blocks/${alias}` })
      if (ending.outcome === 'done') Object.assign(one, { isBlocked: false, againMs: 0 })
      if (ending.error === 'NOT_FOUND') one.isGone = true
    } else if (one.hasAsked && friendship !== undefined) {
      const ending = await this.#run('accept', alias, {
        method: 'PUT',
        path: `/friends/${friendship}/accept`,
      })
      if (ending.outcome !== 'unknown') one.hasAsked = false
      if (ending.conv) Object.assign(one, { conv: ending.conv, isFriend: true })
    } else {
      const body = JSON.stringify({ to_alias_id: alias })
      const ending = await this.#run('ask', alias, { method: 'POST', path: '/friends/request', body })
      if (ending.friendship !== undefined) one.friendship = ending.friendship
      if (ending.status === 'accepted' || ending.error === 'ALREADY_FRIENDS') this.#isInDoubt = true
      if (ending.error === 'UNBLOCK_FIRST') one.isBlocked = true
      if (ending.error === 'NOT_FOUND') one.isGone = true
    }
  }

  async #look(): Promise<void> {
    const { outcome, list = [] } = await this.#run('look', '', { method: 'GET', path: '/friends' })
    if (outcome !== 'done') return
    this.#isInDoubt = false
    const listed = new Map(list.map((row) => [row.alias, row]))
    for (const alias of listed.keys()) this.#know(alias)
    for (const one of this.#people.values()) {
      const row = listed.get(one.alias)
      one.friendship = row?.friendship
      one.isFriend = row?.status === 'accepted'
      one.hasAsked = row?.status === 'pending' && row.direction === 'received'
      if (row?.conv) one.conv = row.conv
    }
  }

  async #deleteAccount(onGone: () => void): Promise<void> {
    const { outcome } = await this.#run('leave', '', { method: 'DELETE', path: '/me' })
    if (outcome === 'unknown') this.#mayBeGone = true
    // The login was refused: an earlier attempt with unknown outcome had succeeded.
    if (outcome === 'done' || (this.#mayBeGone && !this.#parts.account.token)) onGone()
  }

  async #run(what: Errand, peer: string, request: Request): Promise<Ending> {
    const { history, client, account, random, addresses } = this.#parts
    account.base = random.pick(addresses).url
    if (!account.token) await within(account.login())
    if (!account.token) return { outcome: 'refused', error: 'NO_CONNECTION' }
    const command = history.nextCommand()
    history.add({ type: 'began', client, command, what, peer })
    const ending = await send(account, request)
    history.add({ type: 'ended', client, command, ...ending })
    if (ending.outcome === 'unknown') this.#isInDoubt = true
    if (ending.error === 'TOKEN_DEAD') await within(account.login())
    return ending
  }

  #know(alias: string): Acquaintance {
    const known = this.#people.get(alias) ?? {
      alias,
      conv: undefined,
      friendship: undefined,
      isFriend: false,
      hasAsked: false,
      isBlocked: false,
      isGone: false,
      againMs: 0,
    }
    this.#people.set(alias, known)
    return known
  }
}

interface Request {
  readonly method: string
  readonly path: string
  readonly body?: string
}

async function send(account: WireAccount, { method, path, body }: Request): Promise<Ending> {
  const headers = { ...account.authorized(), 'content-type': 'application/json' }
  try {
    // A new connection: on a kept-alive one, the runtime would repeat a request by itself.
    const init = { method, headers, keepalive: false, ...(body === undefined ? {} : { body }) }
    const response = await fetch(account.api(path), init)
    const text = await response.text()
    return endingOf(response.status, text === '' ? {} : JSON.parse(text))
  } catch (error) {
    const isAlone = error instanceof Error && 'code' in error && error.code === 'ConnectionRefused'
    return isAlone ? { outcome: 'refused', error: 'NO_CONNECTION' } : { outcome: 'unknown' }
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the wire may return anything
function endingOf(status: number, body: any): Ending {
  if (status >= 500) return { outcome: 'unknown', error: body.error }
  if (status >= 400) return { outcome: 'refused', error: body.error }
  return Array.isArray(body)
    ? { outcome: 'done', list: body.map(rowOf) }
    : {
        outcome: 'done',
        friendship: body.friendship_id,
        conv: body.conversation_id,
        status: body.status,
      }
}

// biome-ignore lint/suspicious/noExplicitAny: see above
function rowOf({ alias_id: alias, status, conversation_id: conv, friendship_id, direction }: any): Listed {
  return { alias, status, conv, friendship: friendship_id, direction }
}
