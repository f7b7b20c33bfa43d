// The parts of TronGrid's documented HTTP interface that payments use, over a small chain that tests write.
import { type Asked, type LocalHttp, serveLocally } from './local-http.ts'

/** A `Transfer(address,address,uint256)` event of one token; addresses are 20 bytes in hex. */
export interface GridTransfer {
  readonly token: string
  readonly to: string
  readonly amount: bigint
  /** What the token keeps of the amount, though its event names all of it. */
  readonly fee?: bigint
  /** By default an address that no test uses. */
  readonly from?: string
}

interface GridTransaction {
  readonly id: string
  height: number
  readonly transfers: readonly GridTransfer[]
  result?: 'FAILED'
}

const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const word = (hex: string): string => hex.padStart(64, '0')

export class TronGridServer implements Disposable {
  readonly http: LocalHttp
  /** The number of the newest block. Blocks are three seconds apart. */
  head = 1000
  /** How many blocks below the newest one the newest lies that no reorganisation can replace. */
  solidDepth = 2
  decimals = 6
  /** The chain's number: the last four bytes of the id of its first block. */
  chainId = 728_126_428
  /** Overrides an answer if it returns one. */
  instead: (asked: Asked) => Response | undefined = () => undefined
  /** The most transfers on one page, even if a request asks for more. */
  page = 200
  readonly transactions: GridTransaction[] = []
  readonly #addresses: ReadonlyMap<string, string>

  /** @param addresses the 20 bytes in hex of each address, of accounts and of tokens */
  constructor(addresses: ReadonlyMap<string, string>) {
    this.#addresses = addresses
    this.http = serveLocally((asked) => this.instead(asked) ?? this.#answer(asked))
  }

  /** Puts a transaction into a block. Its id is made from `number`. */
  add(number: number, height: number, transfers: readonly GridTransfer[]): GridTransaction {
    const transaction = { id: word(number.toString(16)), height, transfers }
    this.transactions.push(transaction)
    return transaction
  }

  get solid(): number {
    return this.head - this.solidDepth
  }

  timeOf(height: number): number {
    return 1_700_000_000_000 + height * 3000
  }

  /** The paths requested until now, without their queries. */
  paths(): string[] {
    return this.http.asked.map(({ path }) => path.replace(/\?.*/, ''))
  }

  [Symbol.dispose](): void {
    this.http[Symbol.dispose]()
  }

  #answer({ path, body }: Asked): Response {
    const url = new URL(path, this.http.url)
    const account = /^\/v1\/accounts\/(\w+)\/transactions\/trc20$/.exec(url.pathname)?.[1]
    if (account !== undefined) return this.#listed(account, url.searchParams)
    if (url.pathname === '/wallet/getnowblock') return this.#block(this.head)
    if (url.pathname === '/walletsolidity/getnowblock') return this.#block(this.solid)
    if (url.pathname === '/wallet/getblockbynum' && JSON.parse(body).num === 0) return this.#firstBlock()
    const last = url.pathname.startsWith('/walletsolidity/') ? this.solid : this.head
    if (/^\/wallet(solidity)?\/gettransactioninfobyid$/.test(url.pathname))
      return this.#info(JSON.parse(body).value, last)
    if (/^\/wallet(solidity)?\/triggerconstantcontract$/.test(url.pathname)) {
      const { function_selector, contract_address, parameter } = JSON.parse(body)
      if (function_selector === 'balanceOf(address)')
        return this.#balance(contract_address, parameter.slice(-40), last)
      return Response.json({ result: { result: true }, constant_result: [word(this.decimals.toString(16))] })
    }
    return Response.json({ success: false, error: 'not found', statusCode: 404 }, { status: 404 })
  }

  #balance(contract: string, owner: string, last: number): Response {
    const token = this.#addresses.get(contract)
    const inBlocks = this.transactions.filter(({ height, result }) => height <= last && !result)
    const transfers = inBlocks.flatMap(({ transfers: all }) => all)
    const sum = transfers
      .filter((transfer) => transfer.token === token)
      .reduce(
        (held, { to, from, amount, fee = 0n }) =>
          held + (to === owner ? amount - fee : 0n) - (from === owner ? amount : 0n),
        0n,
      )
    return Response.json({ result: { result: true }, constant_result: [word(sum.toString(16))] })
  }

  #firstBlock(): Response {
    return Response.json({ blockID: word(this.chainId.toString(16)), block_header: { raw_data: {} } })
  }

  #block(number: number): Response {
    const raw_data = { number, timestamp: this.timeOf(number), version: 30 }
    return Response.json({ blockID: word(number.toString(16)), block_header: { raw_data } })
  }

  #listed(account: string, query: URLSearchParams): Response {
    const owner = this.#addresses.get(account)
    const side = query.get('only_from') === 'true' ? 'from' : 'to'
    const token = this.#addresses.get(query.get('contract_address') ?? '')
    const all = this.transactions
      .flatMap(({ id, height, transfers }) => transfers.map((transfer) => ({ id, height, ...transfer })))
      .filter(
        (transfer) =>
          transfer[side] === owner && (!query.has('contract_address') || transfer.token === token),
      )
      .sort((a, b) => b.height - a.height)
    const from = Number(query.get('fingerprint') ?? 0)
    const size = Math.min(this.page, Number(query.get('limit') ?? 20))
    const data = all.slice(from, from + size).map(({ id, height, amount }) => ({
      transaction_id: id,
      token_info: { symbol: 'USDT', address: query.get('contract_address'), decimals: 6, name: 'Tether USD' },
      block_timestamp: this.timeOf(height),
      from: 'TYE218dMfzo2TH348AbKyHD2G8PjGo7ESS',
      to: account,
      type: 'Transfer',
      value: amount.toString(),
    }))
    const more = from + size < all.length ? { fingerprint: (from + size).toString() } : {}
    return Response.json({
      data,
      success: true,
      meta: { at: this.timeOf(this.head), page_size: data.length, ...more },
    })
  }

  #info(id: string, last: number): Response {
    const found = this.transactions.find((transaction) => transaction.id === id && transaction.height <= last)
    if (!found) return Response.json({})
    const { height, transfers, result } = found
    return Response.json({
      id,
      fee: 13_844_850,
      blockNumber: height,
      blockTimeStamp: this.timeOf(height),
      contractResult: [''],
      receipt: { energy_usage_total: 64_285, net_usage: 345, result: result ?? 'SUCCESS' },
      ...(result ? { result } : {}),
      log: transfers.map(({ token, to, amount, from = 'fb' }) => ({
        address: token,
        topics: [TRANSFER, word(from), word(to)],
        data: word(amount.toString(16)),
      })),
    })
  }
}
