// The JSON-RPC endpoints of one chain: one of them answers a question, or several do, so that their answers
// can be compared.
import { Endpoint, type EndpointParts, RpcFailure } from './evm-endpoint.ts'
import { type EvmRpcRequests, NotAvailable } from './evm-rpc-requests.ts'

/** No endpoint of the chain answered. The problem of each was logged. */
export class ChainUnreachable extends Error {
  override readonly name = 'ChainUnreachable'
}

/** A question to one endpoint of a chain. */
export type Question<T> = (chain: EvmRpcRequests) => Promise<T>

/** An endpoint's answer. */
export interface Answer<T> {
  /** The host of the endpoint. */
  readonly host: string
  /** `undefined` if the endpoint does not have what was asked for. */
  readonly value: T | undefined
}

interface RpcParts extends EndpointParts {
  /** The chain that the endpoints must serve; undefined: any chain, but all the same one. */
  readonly chainId: number | undefined
  /** Chains that the endpoints must not serve. */
  readonly notChainIds?: readonly number[]
}

/** The endpoints of one chain. */
export class Rpc {
  readonly #parts: RpcParts
  readonly #endpoints: readonly Endpoint[]
  /** Endpoints that contradicted what enough others say. They are asked last. */
  readonly #doubted = new Set<string>()
  #chainId: number | undefined

  constructor(urls: readonly string[], parts: RpcParts) {
    this.#parts = parts
    this.#chainId = parts.chainId
    this.#endpoints = urls.map((url) => new Endpoint(url, parts))
  }

  /** The hosts of all endpoints. */
  get hosts(): readonly string[] {
    return this.#endpoints.map(({ host }) => host)
  }

  /** The id of the chain, requested if it is not known yet. @throws ChainUnreachable */
  async chainId(): Promise<number> {
    if (this.#chainId === undefined) await this.ask(async () => true)
    if (this.#chainId === undefined) throw new ChainUnreachable()
    return this.#chainId
  }

  /**
   * Lets one endpoint answer the whole `question`, so that an answer never mixes endpoints that see different
   * blocks. If the endpoint fails, or has no answer or one that is not wanted, the next endpoint is used. No
   * answer counts unless the endpoint serves the right chain afterwards as well.
   * @param isWanted gets each answer, and the host of its endpoint
   * @returns undefined if no endpoint has a wanted answer
   * @throws ChainUnreachable if no endpoint answered
   * @throws RequestTooLarge if the question must be asked in parts
   */
  async ask<T>(
    question: Question<T>,
    isWanted: (answer: T, host: string) => boolean = () => true,
  ): Promise<T | undefined> {
    let isAnswered = false
    for (const endpoint of this.#inTurn()) {
      const answer = await this.#tryAsk(endpoint, question)
      if (!answer) continue
      isAnswered = true
      if (answer.value !== undefined && isWanted(answer.value, endpoint.host)) return answer.value
    }
    if (!isAnswered) throw new ChainUnreachable()
    return undefined
  }

  /**
   * Asks the endpoints one after the other, until there are enough answers; doubted endpoints are asked in
   * any case, so that it is noticed when they are right again.
   * @returns the answers, without those of endpoints that failed
   * @throws RequestTooLarge
   */
  async askEach<T>(
    question: Question<T>,
    isEnough: (answers: readonly Answer<T>[]) => boolean,
  ): Promise<readonly Answer<T>[]> {
    const answers: Answer<T>[] = []
    for (const endpoint of this.#inTurn()) {
      if (isEnough(answers) && !this.#doubted.has(endpoint.host)) continue
      const answer = await this.#tryAsk(endpoint, question)
      if (answer) answers.push(answer)
    }
    return answers
  }

  /** Has these endpoints asked last, until {@link believe}. */
  doubt(hosts: readonly string[]): void {
    for (const host of hosts) {
      if (!this.#doubted.has(host)) this.#parts.log.warn('rpc_endpoint_contradicts', { url: host })
      this.#doubted.add(host)
    }
  }

  /** Ends the doubt in these endpoints. */
  believe(hosts: readonly string[]): void {
    for (const host of hosts)
      if (this.#doubted.delete(host)) this.#parts.log.info('rpc_endpoint_agrees', { url: host })
  }

  /** Notes that an endpoint's newest block was followed, or that no endpoint has the blocks up to it. */
  noteHead(host: string, excess: number | undefined): void {
    const endpoint = this.#endpoints.find((each) => each.host === host)
    if (excess === undefined) endpoint?.recordHead()
    else endpoint?.recordEmptyHead(excess)
  }

  #inTurn(): readonly Endpoint[] {
    const rank = ({ host }: Endpoint): number => (this.#doubted.has(host) ? 1 : 0)
    return this.#endpoints.toSorted((a, b) => rank(a) - rank(b))
  }

  async #tryAsk<T>(endpoint: Endpoint, question: Question<T>): Promise<Answer<T> | undefined> {
    if (this.#parts.stopping.aborted || endpoint.isResting) return undefined
    try {
      if (!endpoint.isChainChecked && !(await this.#isOnRightChain(endpoint))) return undefined
      const value = await answerOf(question(endpoint.requests))
      // Another node may be behind the same address by now, also in the middle of the question.
      if (!(await this.#isOnRightChain(endpoint))) return undefined
      endpoint.recordSuccess()
      return { host: endpoint.host, value }
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error
      endpoint.recordFailure(error)
      return undefined
    }
  }

  async #isOnRightChain(endpoint: Endpoint): Promise<boolean> {
    const chainId = await endpoint.requests.chainId()
    if (this.#parts.notChainIds?.includes(chainId))
      return endpoint.refuse(`its chain is ${chainId}, which is watched already`)
    this.#chainId ??= chainId
    if (chainId !== this.#chainId)
      return endpoint.refuse(`its chain is ${chainId}, where ${this.#chainId} was expected`)
    endpoint.isChainChecked = true
    return true
  }
}

async function answerOf<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof NotAvailable) return undefined
    throw error
  }
}
