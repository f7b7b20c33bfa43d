// The TronGrid endpoints of one chain. None is believed alone: what decides about money counts only if enough
// of them agree on it.
import type { Clock } from '../../operations/clock.ts'
import type { Log } from '../../operations/log.ts'
import { AnswerTooLarge, Unreachable } from './bounded-request.ts'
import { type Block, type BlockState, type GridPace, type Transaction, TronGrid } from './tron-grid.ts'

/** The endpoints, and how many of them must agree. */
export interface TronEndpointsConfig {
  readonly apiUrls: readonly string[]
  /** Empty: the API needs no key. It is sent to every endpoint. */
  readonly apiKey: string
  /** The chain's number (TIP-474). */
  readonly chainId: number
  /** From 1 to the number of endpoints. */
  readonly agree: number
}

/** A transaction as the endpoints report it. */
export interface TransactionReport {
  /** Undefined: no endpoint has it in a block now. */
  readonly transaction: Transaction | undefined
  /** Whether enough endpoints report exactly this. */
  readonly isAgreed: boolean
}

interface Endpoint {
  readonly grid: TronGrid
  /** Only the host, because the rest of a URL may contain a key. */
  readonly host: string
  loggedProblem: string | undefined
  hadProblem: boolean
}

/** The endpoints disagree about something that decides about money. */
export class Disagreement extends Unreachable {}

/** An endpoint whose newest block is this far above the others' is reported: five minutes. */
const ODD_HEAD_BLOCKS = 100

/**
 * The endpoints that answer on the right chain take part in a round; one that fails leaves it. `begin` and
 * `end` enclose a round, and nothing read in it may be believed before `end` has resolved. Every method
 * throws Unreachable if fewer endpoints than must agree are left.
 */
export class TronEndpoints {
  readonly #config: TronEndpointsConfig
  readonly #log: Log
  readonly #endpoints: readonly Endpoint[]
  #round: readonly Endpoint[] = []

  constructor(
    config: TronEndpointsConfig,
    parts: { clock: Clock; pace: GridPace; stopping: AbortSignal; log: Log },
  ) {
    this.#config = config
    this.#log = parts.log
    this.#endpoints = config.apiUrls.map((apiUrl) => ({
      grid: new TronGrid({ apiUrl, apiKey: config.apiKey }, parts),
      host: new URL(apiUrl).host,
      loggedProblem: undefined,
      hadProblem: false,
    }))
  }

  /** Begins a round with all endpoints that serve the right chain. */
  async begin(): Promise<void> {
    this.#round = this.#endpoints
    for (const endpoint of this.#endpoints) endpoint.hadProblem = false
    await this.#checkChain()
  }

  /** Checks that enough endpoints of the round still serve the right chain, and that each of them does. */
  async end(): Promise<void> {
    const before = this.#round.length
    await this.#checkChain()
    if (this.#round.length < before) throw new Unreachable('an endpoint failed during the round')
    for (const endpoint of this.#round) this.#noteSuccess(endpoint)
  }

  /** The hosts of the endpoints of this round. */
  get hosts(): string {
    return this.#round.map(({ host }) => host).join(' ')
  }

  /** The newest block that enough endpoints have. */
  head(): Promise<Block> {
    return this.#agreedHead((grid) => grid.head())
  }

  /** The newest block that no reorganisation can replace, on enough endpoints. */
  solidHead(): Promise<Block> {
    return this.#agreedHead((grid) => grid.solidHead())
  }

  /** The transactions that transferred this token to an address: what any endpoint lists. */
  async idsOfTransfers(to: string, token: string): Promise<string[]> {
    return (await this.#each((grid) => grid.idsOfTransfers(to, token))).flat()
  }

  /** The newest transactions that transferred any token to an address, up to `most` of each endpoint. */
  async idsOfNewestTransfers(to: string, most: number): Promise<string[]> {
    return (await this.#each((grid) => grid.idsOfNewestTransfers(to, most))).flat()
  }

  /** A transaction. @throws AnswerTooLarge if it is too large for every endpoint to send */
  async findTransaction(id: string, state: BlockState = 'newest'): Promise<TransactionReport> {
    const answers = await this.#each(async (grid) => {
      try {
        return { transaction: await grid.findTransaction(id, state) }
      } catch (error) {
        if (error instanceof AnswerTooLarge) return error
        throw error
      }
    })
    const reports: (Transaction | undefined)[] = []
    for (const answer of answers) if (!(answer instanceof AnswerTooLarge)) reports.push(answer.transaction)
    const [refusal] = answers
    if (reports.length === 0 && refusal instanceof AnswerTooLarge) throw refusal
    const { answer, isAgreed } = this.#mostFrequent(reports, textOf)
    if (isAgreed) return { transaction: answer, isAgreed }
    // While they disagree, no payment is overlooked that any of them reports.
    const transfersOf = (report: Transaction | undefined): number => report?.transfers.length ?? -1
    return { transaction: reports.sort((a, b) => transfersOf(b) - transfersOf(a))[0], isAgreed }
  }

  /** The number of decimal places of a token. */
  decimalsOf(token: string): Promise<bigint> {
    return this.#agreedNumber((grid) => grid.decimalsOf(token))
  }

  /**
   * What an address holds of a token after the newest such block.
   * @throws Disagreement
   */
  balanceOf(token: string, owner: string, state: BlockState): Promise<bigint> {
    return this.#agreedNumber((grid) => grid.balanceOf(token, owner, state))
  }

  /**
   * The sum of a token that ever left an address, up to the newest such block.
   * @throws Disagreement
   * @throws AnswerTooLarge if a transaction is too large for every endpoint to send
   */
  async sumFrom(token: string, owner: string, state: BlockState): Promise<bigint> {
    const ids = (await this.#each((grid) => grid.idsOfTransfersFrom(owner, token))).flat()
    let sum = 0n
    for (const id of new Set(ids)) {
      const { transaction, isAgreed } = await this.findTransaction(id, state)
      if (!isAgreed) throw new Disagreement('the endpoints disagree about a transaction')
      for (const transfer of transaction?.transfers ?? [])
        if (transfer.token === token && transfer.from === owner) sum += transfer.amount
    }
    return sum
  }

  async #agreedNumber(ask: (grid: TronGrid) => Promise<bigint>): Promise<bigint> {
    const { answer, isAgreed } = this.#mostFrequent(await this.#each(ask), String)
    if (!isAgreed || answer === undefined) throw new Disagreement('the endpoints disagree about the token')
    return answer
  }

  async #checkChain(): Promise<void> {
    const { chainId } = this.#config
    await this.#each(async (grid) => {
      const found = await grid.chainId()
      if (found !== chainId) throw new Unreachable(`its chain is ${found}, where ${chainId} was expected`)
    })
  }

  async #agreedHead(ask: (grid: TronGrid) => Promise<Block>): Promise<Block> {
    const heads = await this.#each(async (grid, endpoint) => ({ endpoint, block: await ask(grid) }))
    heads.sort((a, b) => b.block.height - a.block.height)
    const agreed = heads[this.#config.agree - 1]?.block
    if (!agreed) throw new Unreachable('too few endpoints answer')
    for (const { endpoint, block } of heads) {
      if (block.height - agreed.height <= ODD_HEAD_BLOCKS) break
      this.#noteProblem(endpoint, `its newest block is ${block.height}, where others have ${agreed.height}`)
    }
    return agreed
  }

  #mostFrequent<T>(answers: readonly T[], textOf: (answer: T) => string) {
    const groups = [...Map.groupBy(answers, textOf).values()].sort((a, b) => b.length - a.length)
    const [largest = []] = groups
    return { answer: largest[0], isAgreed: largest.length >= this.#config.agree }
  }

  async #each<T>(ask: (grid: TronGrid, endpoint: Endpoint) => Promise<T>): Promise<T[]> {
    const asked = await Promise.allSettled(this.#round.map((endpoint) => ask(endpoint.grid, endpoint)))
    const answers: T[] = []
    const left: Endpoint[] = []
    let failure: unknown
    for (const [index, outcome] of asked.entries()) {
      const endpoint = this.#round[index]
      if (!endpoint) break
      if (outcome.status === 'fulfilled') {
        answers.push(outcome.value)
        left.push(endpoint)
        continue
      }
      const { reason: error } = outcome
      if (!(error instanceof Unreachable)) throw error
      failure ??= error
      this.#noteProblem(endpoint, error.message)
    }
    this.#round = left
    if (left.length >= this.#config.agree) return answers
    throw this.#endpoints.length === 1
      ? failure
      : new Unreachable(`${left.length} endpoints answer, and ${this.#config.agree} must agree`)
  }

  #noteProblem(endpoint: Endpoint, reason: string): void {
    endpoint.hadProblem = true
    // With one endpoint the provider itself reports it.
    if (this.#endpoints.length === 1 || endpoint.loggedProblem === reason) return
    endpoint.loggedProblem = reason
    this.#log.warn('payments_endpoint_failing', { url: endpoint.host, reason })
  }

  #noteSuccess(endpoint: Endpoint): void {
    if (endpoint.hadProblem || endpoint.loggedProblem === undefined) return
    endpoint.loggedProblem = undefined
    this.#log.info('payments_endpoint_back', { url: endpoint.host })
  }
}

function textOf(transaction: Transaction | undefined): string {
  if (!transaction) return ''
  const { height, at, transfers } = transaction
  const parts = transfers.map(
    ({ index, token, from, to, amount }) => `${index} ${token} ${from} ${to} ${amount}`,
  )
  return [height, at, ...parts].join('\n')
}
