// Checks one endpoint against every kind of caller: the answer, that it has nothing of the owner's, and what
// it changed.
import { expect } from 'bun:test'
import {
  API_BASE,
  type Endpoint,
  type EndpointName,
  type ErrorCode,
  endpoints,
  errors,
} from '@sotto/protocol'
import { expectJson, expectProblem } from '../expect.ts'
import { type Answer, call } from '../wire.ts'
import {
  BAD_LOGINS,
  bearer,
  type Caller,
  type Credentials,
  callerOf,
  RELATIONS,
  type Relation,
} from './callers.ts'
import { expectChangesOnlyIn, expectNoChange, expectOwnersChange } from './expect-changes.ts'
import type { StoreContents } from './store-contents.ts'
import { MISSING, type Secrets, type Things, type World } from './world.ts'

/** A request to an endpoint. */
export interface Ask {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** JSON, or bytes as they are sent. */
  readonly body?: object | string
  /** The caller's token; by default that of its account. */
  readonly token?: string
}

/** A request that is carried out. */
export interface Allowed {
  /**
   * `nothing` of the store; `owner`: it changes what is the owner's; otherwise the tables in which rows of
   * the owner may change. Rows that are not the owner's may change.
   */
  readonly changes: 'nothing' | 'owner' | readonly string[]
  /** The secrets of the owner that the answer may have. */
  readonly shows?: readonly string[]
  /** Whether the owner may see a difference afterwards; by default if something of the owner's may change. */
  readonly seen?: boolean
  /** Checks the answer. */
  readonly reply?: (answer: Answer, things: Things) => void
}

/** A request that is refused, and more than the code in its answer. */
export interface Refused {
  readonly refused: ErrorCode
  readonly more: (things: Things) => Record<string, unknown>
}

/** What a caller gets. With a code, the request is refused and the store does not change at all. */
export type Outcome = ErrorCode | Refused | Allowed

/** What each relation gets; those that are not named get what `others` says. */
export type Outcomes = { readonly others: Outcome } & Partial<Readonly<Record<Relation, Outcome | 'untried'>>>

/** One request with things of the owner, made by every kind of caller. */
export interface Case {
  /** What the request is about. */
  readonly about: string
  /** Makes things of the owner for this case, again after each request that changed them. */
  readonly prepare?: (world: World) => Promise<Partial<Things>>
  /** Makes things of the caller. */
  readonly own?: (caller: Caller, world: World) => Promise<Partial<Things>>
  /** Whether each caller is a new account, because the request changes or ends what the account is. */
  readonly fresh?: true
  readonly ask: (given: { things: Things; own: Things; caller: Caller; world: World }) => Ask
  readonly gets: Outcomes
  /** What names of nothing get; by default `NOT_FOUND`. Only of the first case of a row. */
  readonly ifMissing?: 'done'
}

/** The row of an endpoint. */
export type EndpointRow = readonly [Case, ...Case[]]

/** Changes nothing. */
export const reads = { changes: 'nothing' } as const satisfies Allowed
/** Changes only what is not the owner's. */
export const ownOnly = { changes: [] } as const satisfies Allowed
/** Changes what is the owner's. */
export const changesOwners = { changes: 'owner' } as const satisfies Allowed

/** Codes that depend on what the caller is to somebody else's things, if these exist. */
const RELATIONAL: readonly ErrorCode[] = [
  ...(['NOT_CHANNEL_OWNER', 'OWN_CHANNEL', 'CHANNEL_TAKEN', 'ALIAS_TAKEN', 'ORDER_NOT_CONFIRMED'] as const),
  ...(['SELF_REQUEST', 'ALREADY_FRIENDS', 'UNBLOCK_FIRST', 'ALREADY_STORED', 'ACCOUNT_EXISTS'] as const),
  ...(['SIGNATURE_INVALID', 'CHALLENGE_INVALID'] as const),
]

/**
 * Expects a row to have the codes by which its endpoint tells callers apart, and no code of another endpoint.
 */
export function expectCodes(name: EndpointName, row: EndpointRow): void {
  const declared: readonly ErrorCode[] = endpoints[name].errors
  const expected = row
    .flatMap(({ gets }) => Object.values(gets))
    .flatMap((outcome) => {
      if (typeof outcome === 'object') return 'refused' in outcome ? [outcome.refused] : []
      return outcome === 'untried' ? [] : [outcome]
    })
  expect(expected.filter((code) => !declared.includes(code))).toEqual([])
  expect(declared.filter((code) => RELATIONAL.includes(code) && !expected.includes(code))).toEqual([])
}

/** Checks an endpoint against its row. */
export async function checkEndpoint(world: World, name: EndpointName, row: EndpointRow): Promise<void> {
  for (const each of row) {
    const checking = new CaseCheck(world, name, each)
    if (endpoints[name].auth === 'account') await checking.withoutLogin()
    else await checking.withAnyLogin()
    await checking.withLogin()
  }
  const declared: readonly ErrorCode[] = endpoints[name].errors
  if (declared.includes('NOT_FOUND')) await new CaseCheck(world, name, row[0]).withMissing()
}

class CaseCheck {
  readonly #world: World
  readonly #name: EndpointName
  readonly #endpoint: Endpoint
  readonly #case: Case

  constructor(world: World, name: EndpointName, theCase: Case) {
    this.#world = world
    this.#name = name
    this.#endpoint = endpoints[name]
    this.#case = theCase
  }

  /** Every caller without a valid login gets 401, by every method, for a request that the owner may make. */
  async withoutLogin(): Promise<void> {
    const things = await this.#prepare()
    const ask = await this.#askOf(this.#world.callers.owner, things)
    const [view, before] = [await this.#world.view(), await this.#world.contents()]
    for (const [kind, credentials] of Object.entries(this.#world.badLogins)) {
      for (const method of methodsOf(this.#endpoint)) {
        await this.#labelled(`${method} by a token ${kind}`, async () => {
          const answer = await this.#send(ask, credentials, method)
          expect(answer.headers.get('www-authenticate')).toBe('Bearer')
          if (method === 'HEAD') expect([answer.status, answer.text]).toEqual([401, ''])
          else expectProblem(answer, 401, BAD_LOGINS[kind as keyof typeof BAD_LOGINS])
        })
      }
    }
    await this.#labelled('by tokens that are not valid', () => this.#expectChanges('nothing', before))
    expect(await this.#world.view()).toEqual(view)
  }

  /** An endpoint without a login answers the same, whatever token comes with the request. */
  async withAnyLogin(): Promise<void> {
    const { stranger } = this.#world.callers
    for (const [kind, credentials] of Object.entries(this.#world.badLogins))
      await this.#labelled(`by a token ${kind}`, () =>
        this.#try(stranger, this.#case.gets.others, credentials),
      )
  }

  /** What does not exist is not found, or is answered as the row says. */
  async withMissing(): Promise<void> {
    const { stranger } = this.#world.callers
    const { ask, ifMissing = 'NOT_FOUND' } = this.#case
    const missing = ask({ things: MISSING, own: MISSING, caller: stranger, world: this.#world })
    await this.#labelled('with names of nothing', async () => {
      const before = await this.#world.contents()
      const answer = await this.#send(missing, bearer(stranger.account.token))
      if (ifMissing === 'NOT_FOUND') expectProblem(answer, 404, ifMissing)
      else expect([answer.status, answer.text]).toEqual([this.#endpoint.status, '{}'])
      await this.#expectChanges('nothing', before)
    })
  }

  /** Every relation gets what the row says. */
  async withLogin(): Promise<void> {
    const { gets, fresh } = this.#case
    const tried = RELATIONS.flatMap((relation) => {
      const outcome = gets[relation] ?? gets.others
      return outcome === 'untried' ? [] : [{ relation, outcome }]
    })
    // The owner's things are made again only after they were changed, so what changes them comes last.
    const harmless = tried.filter(({ outcome }) => isHarmless(outcome))
    const { callers, owner } = this.#world
    const callerFor = async (relation: Relation): Promise<Caller> =>
      fresh && relation !== 'owner' ? await callerOf(relation, owner) : callers[relation]
    const ordered = [...harmless, ...tried.filter((one) => !harmless.includes(one))]
    const made = ordered.map(async (one) => ({ ...one, caller: await callerFor(one.relation) }))
    const callersOf = await Promise.all(made)
    this.#forget()
    for (const { relation, outcome, caller } of callersOf)
      await this.#labelled(`by the ${relation}`, () => this.#try(caller, outcome))
  }

  #things: Things | undefined
  /** What is stored and what the owner sees, unless something was made since. */
  #stored: StoreContents | undefined
  #seen: unknown

  async #prepare(): Promise<Things> {
    if (!this.#things) {
      this.#things = { ...this.#world.things, ...(await this.#case.prepare?.(this.#world)) }
      this.#forget()
    }
    return this.#things
  }

  async #askOf(caller: Caller, things: Things): Promise<Ask> {
    const { own, ask } = this.#case
    if (own) this.#forget()
    return ask({
      things,
      own: { ...MISSING, ...(await own?.(caller, this.#world)) },
      caller,
      world: this.#world,
    })
  }

  #forget(): void {
    this.#stored = undefined
    this.#seen = undefined
  }

  async #try(caller: Caller, outcome: Outcome, credentials?: Credentials): Promise<void> {
    const world = this.#world
    const things = await this.#prepare()
    const ask = await this.#askOf(caller, things)
    const by = credentials ?? bearer(ask.token ?? caller.account.token)
    const before = this.#stored ?? (await world.contents())
    const isViewed = isAllowed(outcome) && outcome.changes !== 'nothing' && !isSeen(outcome)
    if (isViewed) this.#seen ??= await world.view()
    const answer = await this.#send(ask, by)
    if (!isAllowed(outcome)) {
      const [code, more] =
        typeof outcome === 'string' ? [outcome, {}] : [outcome.refused, outcome.more(things)]
      // The answer has exactly these fields, thus nothing of the owner's.
      expectProblem(answer, errors[code].status, code, more)
      if (code === 'NOT_FOUND') await this.#expectSameAsMissing(answer, caller, by)
      await this.#expectChanges('nothing', before, caller)
      return
    }
    expect([answer.status, answer.text]).toEqual([this.#endpoint.status, answer.text])
    outcome.reply?.(answer, things)
    await this.#expectChanges(outcome.changes, before, caller)
    if (isViewed) expect(await world.view()).toEqual(this.#seen)
    if (isSeen(outcome)) this.#seen = undefined
    if (!isHarmless(outcome)) {
      this.#things = undefined
      await world.readAlias()
    }
    if (caller.relation === 'owner') return
    const profile = credentials !== undefined || caller.relation === 'stranger'
    const leaked = leaks(answer, ask, world.secretsOf(things, profile))
    expect(leaked.filter((name) => !outcome.shows?.includes(name))).toEqual([])
  }

  // What the caller may not see is answered like what does not exist.
  async #expectSameAsMissing(answer: Answer, caller: Caller, by: Credentials): Promise<void> {
    const missing = this.#case.ask({ things: MISSING, own: MISSING, caller, world: this.#world })
    const other = await this.#send(missing, by)
    expect([other.status, other.text]).toEqual([answer.status, answer.text])
  }

  async #expectChanges(
    changes: Allowed['changes'],
    before: StoreContents,
    caller = this.#world.callers.owner,
  ): Promise<void> {
    const after = await this.#world.contents()
    this.#stored = after
    const change = { before, after, owner: this.#world.owner.uuid, caller: caller.account.uuid }
    if (changes === 'nothing') expectNoChange(change)
    else if (changes === 'owner') expectOwnersChange(change)
    else expectChangesOnlyIn(changes, change)
  }

  async #send(ask: Ask, credentials: Credentials, method: string = this.#endpoint.method): Promise<Answer> {
    const answer = await send(this.#world.relay.url, this.#endpoint, ask, { ...credentials, method })
    const isBytes = this.#endpoint.rawReply && answer.status < 300
    if (method !== 'HEAD' && !isBytes) expectJson(answer)
    return answer
  }

  async #labelled<T>(by: string, check: () => Promise<T>): Promise<T> {
    try {
      return await check()
    } catch (error) {
      const label = `${this.#name}, ${this.#case.about}, ${by}`
      throw new Error(`${label}: ${error instanceof Error ? error.message : error}`, { cause: error })
    }
  }
}

function isAllowed(outcome: Outcome): outcome is Allowed {
  return typeof outcome === 'object' && 'changes' in outcome
}

/** Whether the owner's things are the same afterwards. */
function isHarmless(outcome: Outcome): boolean {
  return !isAllowed(outcome) || outcome.changes === 'nothing' || outcome.changes.length === 0
}

/** Whether the owner may see a difference afterwards. */
function isSeen(outcome: Allowed): boolean {
  return outcome.seen ?? !isHarmless(outcome)
}

function methodsOf({ method, alsoMethod, rawReply }: Endpoint): string[] {
  return [method, ...(alsoMethod ? [alsoMethod] : []), ...(rawReply ? ['HEAD'] : [])]
}

function send(
  relayUrl: string,
  { path }: Endpoint,
  { params = {}, query = {}, body }: Ask,
  by: Credentials & { readonly method: string },
): Promise<Answer> {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const value = params[name]
    if (value === undefined) throw new Error(`the row gives no ${name} for ${path}`)
    return encodeURIComponent(value)
  })
  const search = new URLSearchParams({ ...query, ...by.query }).toString()
  return call(`${relayUrl}${API_BASE}${filled}${search === '' ? '' : `?${search}`}`, {
    method: by.method,
    headers: { ...by.headers, ...(typeof body === 'object' ? { 'content-type': 'application/json' } : {}) },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

/** The names of the secrets that an answer has and its request had not. */
function leaks({ text, headers }: Answer, ask: Ask, secrets: Secrets): string[] {
  const answered = `${text}\n${JSON.stringify([...headers])}`
  const asked = JSON.stringify(ask)
  return Object.keys(secrets).filter((name) => {
    const secret = secrets[name] ?? ''
    return answered.includes(secret) && !asked.includes(secret)
  })
}
