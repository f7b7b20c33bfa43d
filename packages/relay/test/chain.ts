// A real EVM chain for tests (anvil) with test tokens, and an endpoint in front of it that misbehaves on
// demand.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import solc from 'solc'
import { type Abi, type Address, encodeAbiParameters, encodeFunctionData, type Hex } from 'viem'
import { findFreePort } from './free-port.ts'

/** A chain in a separate process. */
export interface TestChain {
  readonly url: string
  readonly chainId: number
  /** An account with coins, unlocked. */
  readonly payer: Address
  rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>
  /** Mines empty blocks. */
  mine(count?: number): Promise<void>
  height(): Promise<number>
  /**
   * Replaces the newest `depth` blocks. The new blocks get `transactions`, each with the position of its
   * block.
   */
  reorganise(depth: number, transactions?: readonly (readonly [Hex | object, number])[]): Promise<void>
  /** Sends a transaction of the payer in a separate block. @returns its hash */
  send(transaction: { to?: Address; data?: Hex; value?: Hex }): Promise<Hex>
  /** The raw signed transaction, to be put into another block. */
  rawTransaction(hash: Hex): Promise<Hex>
  /** @param contract the contract in TestToken.sol, by default `TestToken` */
  deployToken(decimals: number, contract?: ContractName): Promise<TestToken>
  stop(): Promise<void>
}

type ContractName = 'TestToken' | 'FeeToken'

/** A contract in test/chain/TestToken.sol, deployed; the payer owns all of it. */
export interface TestToken {
  /** The address in lower case. */
  readonly address: Address
  pay(to: string, amount: bigint): Promise<Hex>
  payAll(to: readonly string[], amount: bigint): Promise<Hex>
  emitCollectible(to: string, id: bigint): Promise<Hex>
  /** The transaction that `pay` sends, for a block of a reorganisation. */
  payment(to: string, amount: bigint): { from: Address; to: Address; data: Hex; gas: Hex }
}

/**
 * Starts a chain.
 * @param options.quick keeps no history: mines many blocks quickly, but cannot reorganise
 * @param options.since the time of its first block, in seconds since 1970; by default now
 */
export async function startChain(
  options: { chainId?: number; quick?: boolean; since?: number } = {},
): Promise<TestChain> {
  const { chainId = 31337, quick = false, since } = options
  for (let triesLeft = 5; ; triesLeft--) {
    const port = await findFreePort()
    const url = `http://127.0.0.1:${port}`
    const anvil = launch([
      ...['--port', String(port), '--chain-id', String(chainId), '--silent', '--accounts', '1'],
      ...(quick ? ['--prune-history'] : []),
      ...(since === undefined ? [] : ['--timestamp', String(since)]),
    ])
    if (await isUp(url, anvil)) return chainAt(url, chainId, anvil)
    await end(anvil)
    // Another process may have taken the port since findFreePort() checked it.
    if (triesLeft === 0) throw new Error('anvil did not start')
  }
}

// The shell ends anvil when the shell's standard input closes: when this process closes it or ends in any
// way.
const keeperScript = `trap '' HUP INT TERM
"$@" </dev/null >/dev/null 2>&1 &
read -r _
kill -KILL $!
wait`

type Keeper = Subprocess<'pipe', 'ignore', 'inherit'>

function launch(words: readonly string[]): Keeper {
  const machine = process.arch === 'x64' ? 'amd64' : process.arch
  // Runs the binary directly, from the package for this machine. The package's start script would be one more
  // process between the shell and the binary.
  const require = createRequire(import.meta.resolve('@foundry-rs/anvil/package.json'))
  const binary = require.resolve(`@foundry-rs/anvil-${process.platform}-${machine}/bin/anvil`)
  return Bun.spawn(['sh', '-c', keeperScript, 'keeper', binary, ...words], {
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'inherit',
  })
}

async function end(anvil: Keeper): Promise<void> {
  await anvil.stdin.end()
  await anvil.exited
}

async function isUp(url: string, anvil: Keeper): Promise<boolean> {
  for (let tries = 0; tries < 200 && anvil.exitCode === null; tries++) {
    const isAnswered = await call(url, 'eth_chainId', []).then(
      () => true,
      () => false,
    )
    if (isAnswered) return true
    await Bun.sleep(50)
  }
  return false
}

async function chainAt(url: string, chainId: number, anvil: Keeper): Promise<TestChain> {
  const rpc = <T>(method: string, params: readonly unknown[] = []): Promise<T> =>
    call(url, method, params) as Promise<T>
  const [payer] = await rpc<Address[]>('eth_accounts')
  if (!payer) throw new Error('anvil has no account')
  const send = async (transaction: { to?: Address; data?: Hex; value?: Hex }): Promise<Hex> => {
    const hash = await rpc<Hex>('eth_sendTransaction', [{ from: payer, gas: '0xf00000', ...transaction }])
    for (let tries = 0; tries < 500; tries++) {
      const receipt = await rpc<{ status: string } | null>('eth_getTransactionReceipt', [hash])
      if (receipt?.status === '0x1') return hash
      if (receipt) throw new Error('a transaction failed')
      await Bun.sleep(10)
    }
    throw new Error('no block got the transaction')
  }
  return {
    url,
    chainId,
    payer,
    rpc,
    mine: async (count = 1) => void (await rpc('anvil_mine', [hex(count)])),
    height: async () => Number(await rpc<Hex>('eth_blockNumber')),
    reorganise: async (depth, transactions = []) => {
      const height = Number(await rpc<Hex>('eth_blockNumber'))
      let nonce = Number(await rpc<Hex>('eth_getTransactionCount', [payer, hex(height - depth)]))
      // Without this they would get the numbers that follow the removed transactions.
      const numbered = transactions.map(([transaction, block]) => [
        typeof transaction === 'string' || 'nonce' in transaction
          ? transaction
          : { ...transaction, nonce: hex(nonce++) },
        block,
      ])
      await rpc('anvil_reorg', [depth, numbered])
    },
    send,
    rawTransaction: (hash) => rpc<Hex>('eth_getRawTransactionByHash', [hash]),
    deployToken: async (decimals, contract = 'TestToken') => {
      const { abi, code } = compiledToken(contract)
      const digits = encodeAbiParameters([{ type: 'uint8' }], [decimals])
      const hash = await send({ data: `${code}${digits.slice(2)}` as Hex })
      const receipt = await rpc<{ contractAddress: Address }>('eth_getTransactionReceipt', [hash])
      const address = receipt.contractAddress
      const data = (functionName: string, args: readonly unknown[]) =>
        encodeFunctionData({ abi, functionName, args })
      return {
        address,
        pay: (to, amount) => send({ to: address, data: data('transfer', [to, amount]) }),
        payAll: (to, amount) => send({ to: address, data: data('transferAll', [to, amount]) }),
        emitCollectible: (to, id) => send({ to: address, data: data('emitCollectible', [to, id]) }),
        payment: (to, amount) => ({
          ...{ from: payer, to: address, data: data('transfer', [to, amount]) },
          gas: '0x30000', // An estimate would be for the removed state.
        }),
      }
    },
    stop: () => end(anvil),
  }
}

let compiled: Record<ContractName, { abi: Abi; evm: { bytecode: { object: string } } }> | undefined

// Takes a second, so it is done once per test process and only if a test deploys a token.
function compiledToken(name: ContractName): { abi: Abi; code: Hex } {
  compiled ??= compile()
  const { abi, evm } = compiled[name]
  return { abi, code: `0x${evm.bytecode.object}` }
}

function compile(): NonNullable<typeof compiled> {
  const content = readFileSync(join(import.meta.dir, 'chain/TestToken.sol'), 'utf8')
  const input = {
    language: 'Solidity',
    sources: { 'TestToken.sol': { content } },
    settings: { outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } } },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input)))
  const contracts = output.contracts?.['TestToken.sol']
  if (!contracts?.FeeToken) throw new Error(`the tokens do not compile: ${JSON.stringify(output.errors)}`)
  return contracts
}

async function call(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const answer = (await response.json()) as { result?: unknown; error?: { message: string } }
  if (answer.error) throw new Error(`${method}: ${answer.error.message}`)
  return answer.result
}

/** A JSON-RPC request that is being forwarded to the chain. */
export interface Passing {
  readonly method: string
  // biome-ignore lint/suspicious/noExplicitAny: each JSON-RPC method has different parameters
  readonly params: any[]
  /** Forwards it. @returns the chain's answer */
  pass(): Promise<Response>
  /** Makes an answer with this result, instead of the chain's. */
  result(result: unknown): Response
  error(code: number, message: string, init?: ResponseInit): Response
}

/** An endpoint in front of a chain. */
export interface Endpoint {
  readonly url: string
  /** The methods of its requests, in order. */
  readonly asked: string[]
  /** Answers a request. If it is undefined or returns nothing, the request is forwarded to the chain. */
  behave: ((request: Passing) => Response | Promise<Response>) | undefined
  /** Refuses connections from now on. */
  down(): Promise<void>
  /** Accepts connections again, on the same port. */
  up(): Promise<void>
  stop(): Promise<void>
}

/** Puts an endpoint in front of `target`. */
export async function startEndpoint(target: string): Promise<Endpoint> {
  const port = await findFreePort()
  const endpoint = { asked: [] as string[], behave: undefined as Endpoint['behave'] }
  const open = () =>
    Bun.serve({
      hostname: '127.0.0.1',
      port,
      idleTimeout: 60,
      fetch: async (request) => {
        const text = await request.text()
        const { id, method, params } = JSON.parse(text)
        endpoint.asked.push(method)
        const reply = (body: object, init?: ResponseInit): Response =>
          Response.json({ jsonrpc: '2.0', id, ...body }, init)
        const passing: Passing = {
          method,
          params,
          pass: () =>
            fetch(target, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: text }),
          result: (result) => reply({ result }),
          error: (code, message, init) => reply({ error: { code, message } }, init),
        }
        return (await endpoint.behave?.(passing)) ?? (await passing.pass())
      },
    })
  let server: ReturnType<typeof open> | undefined = open()
  const down = async (): Promise<void> => {
    await server?.stop(true)
    server = undefined
  }
  return Object.assign(endpoint, {
    url: `http://127.0.0.1:${port}`,
    down,
    up: async () => {
      server ??= open()
    },
    stop: down,
  })
}

function hex(number: number): string {
  return `0x${number.toString(16)}`
}
