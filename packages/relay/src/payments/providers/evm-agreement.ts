// Holds what was read of a chain against what several endpoints say: payments are final, and orders expire,
// only up to a block on which enough endpoints agree, on its hash and on all payments up to it.
import { type ChainState, findBlock, lockChain, type Position, setAgreed } from '../chain-store.ts'
import type { Ledger, PaymentSeen } from '../provider.ts'
import type { ChainTroubles } from './chain-troubles.ts'
import type { PaymentSearch, Watched } from './evm-payment-search.ts'
import type { Answer, Rpc } from './evm-rpc.ts'
import { type Block, type EvmRpcRequests, NotAvailable, RequestTooLarge } from './evm-rpc-requests.ts'

interface AgreementParts {
  readonly rpc: Rpc
  readonly ledger: Ledger
  readonly search: PaymentSearch
  readonly troubles: ChainTroubles
  readonly scope: string
  readonly confirmations: number
  /** How many endpoints must agree. */
  readonly agree: number
  readonly reorganisationDepth: number
  readonly tokens: readonly string[]
}

/** What one endpoint says of the blocks after the agreed one, up to `block`. */
interface Testimony {
  readonly block: Block
  /** The hash of its block at the height of the agreed one. */
  readonly base: string
  readonly payments: readonly PaymentSeen[]
}

const WIDEST_RANGE = 2000

/** Advances the block up to which enough endpoints agree. */
export class Agreement {
  readonly #parts: AgreementParts
  #width = WIDEST_RANGE
  /** In how many rounds in a row there was no agreement. One such round is usual near the head. */
  #failedRounds = 0

  constructor(parts: AgreementParts) {
    this.#parts = parts
  }

  /**
   * Asks the endpoints about the blocks between the agreed one and the position. While no address is watched,
   * it does so only now and then.
   * @returns the block to go back to, if enough endpoints agree on something else than what was read
   */
  async advance({ agreed, position }: ChainState): Promise<Position | undefined> {
    const { agree, reorganisationDepth, troubles, search } = this.#parts
    if (agree === 1) return undefined
    for (let from = agreed; from.height < position.height; ) {
      const watched = await search.watched()
      if (watched.size === 0 && position.height - from.height <= reorganisationDepth) break
      const found = await this.#findAgreement({ from, position, watched })
      if (!found) return undefined
      // They are on another branch, or another chain. The next round hears those that agree first.
      if (found.base !== from.hash) return from
      const verdict = await this.#compare(found, { from, position })
      if (verdict === 'differs') return from
      if (verdict === 'moved') return undefined
      from = found.block
    }
    this.#failedRounds = 0
    await troubles.clear('few', 'disagree')
    return undefined
  }

  // Asks about the newest block first. If the endpoints do not have it yet, or are on different branches near
  // the head, it asks about the newest block that enough of them have, or the newest that is deep enough.
  async #findAgreement(range: {
    from: Position
    position: Position
    watched: Watched
  }): Promise<Testimony | undefined> {
    const { rpc, agree, confirmations } = this.#parts
    const { from, position } = range
    const final = position.height - confirmations + 1
    let height = Math.min(position.height, from.height + this.#width)
    while (height > from.height) {
      const answers = await this.#testimonies({ ...range, height })
      if (!answers) {
        height = Math.min(height, from.height + this.#width)
        continue
      }
      const found = agreeing(answers, keyOf, agree)
      if (found) {
        this.#judge(answers, found)
        return found.value
      }
      const given = answers.filter(({ value }) => value !== undefined)
      if (distinct(given) >= agree) {
        if (height <= final) return await this.#fail('disagree', given, height)
        height = Math.min(height - 1, final)
      } else {
        const heads = await rpc.askEach(
          (chain) => chain.head(),
          () => false,
        )
        const heights = heads.flatMap(({ value }) => (value ? [value.height] : []))
        const common = heights.toSorted((a, b) => b - a)[agree - 1]
        if (common === undefined || common <= from.height) return await this.#fail('few', given, height)
        height = Math.min(height - 1, common)
      }
    }
    return undefined
  }

  /** @returns undefined if an endpoint refused so many blocks at once */
  async #testimonies(range: {
    from: Position
    watched: Watched
    height: number
  }): Promise<readonly Answer<Testimony>[] | undefined> {
    const { rpc, agree } = this.#parts
    const isNarrow = range.height - range.from.height === 1
    const question = async (chain: EvmRpcRequests): Promise<Testimony> => {
      try {
        return await this.#testify(chain, range)
      } catch (error) {
        if (error instanceof RequestTooLarge && isNarrow) throw new NotAvailable()
        throw error
      }
    }
    try {
      const answers = await rpc.askEach(question, (given) => agreeing(given, keyOf, agree) !== undefined)
      this.#width = Math.min(WIDEST_RANGE, Math.ceil(this.#width * 1.25))
      return answers
    } catch (error) {
      if (!(error instanceof RequestTooLarge)) throw error
      this.#width = Math.max(1, Math.floor((range.height - range.from.height) / 2))
      return undefined
    }
  }

  async #testify(
    chain: EvmRpcRequests,
    { from, watched, height }: { from: Position; watched: Watched; height: number },
  ): Promise<Testimony> {
    const block = await chain.block(height)
    const range = { from: from.height + 1, last: block, watched }
    const payments = await this.#parts.search.inRange(chain, range, true)
    return { block, payments, base: (await chain.block(from.height)).hash }
  }

  // Endpoints that contradict the others are asked last, until they agree.
  #judge(answers: readonly Answer<Testimony>[], found: { value: Testimony }): void {
    const key = keyOf(found.value)
    const isRight = ({ value }: Answer<Testimony>): boolean => value !== undefined && keyOf(value) === key
    this.#parts.rpc.believe(answers.filter(isRight).map(({ host }) => host))
    const wrong = answers.filter((each) => each.value !== undefined && !isRight(each))
    this.#parts.rpc.doubt(wrong.map(({ host }) => host))
  }

  async #fail(
    kind: 'few' | 'disagree',
    given: readonly Answer<Testimony>[],
    height: number,
  ): Promise<undefined> {
    this.#failedRounds++
    if (this.#failedRounds < 2) return
    const hosts = given.map(({ host }) => host)
    const missing = this.#parts.rpc.hosts.filter((host) => !hosts.includes(host))
    await this.#parts.troubles.set(kind, kind === 'few' ? missing : hosts, height)
  }

  // In one transaction, because another node may be reading too.
  async #compare(
    { block, payments }: Testimony,
    { from, position }: { from: Position; position: Position },
  ): Promise<'same' | 'differs' | 'moved'> {
    const { ledger, scope, confirmations } = this.#parts
    return await ledger.transaction(async (entries, sql) => {
      if (!(await lockChain(sql, scope, position))) return 'moved'
      const read = await findBlock(sql, scope, block.height)
      if (read && read.hash !== block.hash) return 'differs'
      const rows = await sql<Row>`
        SELECT reference, asset, amount, at, height, state FROM payments
        WHERE scope = ${scope} AND height > ${from.height} AND height <= ${block.height} AND state <> 'gone'`
      // What is final was agreed on before, and stays.
      const final = new Set(rows.flatMap(({ reference, state }) => (state === 'final' ? [reference] : [])))
      const seen = rows.filter(({ asset, state }) => state === 'seen' && this.#isToken(asset))
      const said = payments.filter(({ reference }) => !final.has(reference))
      if (linesOf(seen) !== linesOf(said)) return 'differs'
      await setAgreed(sql, scope, block)
      // Counted from the agreed block: a single endpoint may have invented those above it.
      await entries.finalizeUpTo(scope, block.height - confirmations + 1)
      return 'same'
    })
  }

  #isToken(asset: string): boolean {
    return this.#parts.tokens.some((token) => asset === `${this.#parts.scope}/${token}`)
  }
}

interface Row {
  readonly reference: string
  readonly asset: string
  readonly amount: string
  readonly at: number
  readonly height: number
  readonly state: 'seen' | 'final'
}

/** The answer that at least `count` different endpoints gave; undefined if there is none. */
export function agreeing<T>(
  answers: readonly Answer<T>[],
  keyOfValue: (value: T) => string,
  count: number,
): { readonly value: T } | undefined {
  const byKey = new Map<string, { value: T; hosts: Set<string> }>()
  for (const { host, value } of answers) {
    if (value === undefined) continue
    const key = keyOfValue(value)
    const group = byKey.get(key) ?? { value, hosts: new Set() }
    group.hosts.add(host)
    byKey.set(key, group)
  }
  return [...byKey.values()].find(({ hosts }) => hosts.size >= count)
}

function distinct(answers: readonly Answer<unknown>[]): number {
  return new Set(answers.map(({ host }) => host)).size
}

function keyOf({ block, payments, base }: Testimony): string {
  return `${base} ${block.hash} ${block.at}\n${linesOf(payments)}`
}

function linesOf(
  payments: readonly Pick<Row | PaymentSeen, 'reference' | 'asset' | 'amount' | 'at' | 'height'>[],
): string {
  const lines = payments.map(({ reference, asset, amount, at, height }) =>
    [reference, asset, amount, at, height].join(' '),
  )
  return lines.sort().join('\n')
}
