// Checks the ways to be paid: whether enough endpoints of each chain answer, and are up to date.
import type { Log, LogFields } from '../operations/log.ts'
import type { ProviderConfig } from '../payments/payment-config.ts'
import { AnswerTooLarge, request } from '../payments/providers/bounded-request.ts'
import { ChainUnreachable, Rpc } from '../payments/providers/evm-rpc.ts'
import { describeHold } from '../payments/providers/manual.ts'
import { TronGrid } from '../payments/providers/tron-grid.ts'
import { type Finding, findingsOf, reasonOf } from './finding.ts'
import type { Patient } from './patient.ts'

/** An endpoint whose newest block is older does not follow its chain. */
const MOST_AGE_MS = 600_000
const TRIES_LATER_MS = 100
const MOST_BYTES = 65_536

/** One endpoint's state. */
interface Endpoint {
  readonly host: string
  /** Undefined if it can be used. */
  readonly problem: string | undefined
}

export async function checkPayments(patient: Patient): Promise<readonly Finding[]> {
  const found = await Promise.all(patient.config.payments.map((provider) => checkProvider(provider, patient)))
  return found.flat()
}

async function checkProvider(config: ProviderConfig, patient: Patient): Promise<readonly Finding[]> {
  const { ok, unused, warning } = findingsOf('payments')
  switch (config.provider) {
    case 'manual':
      return [
        config.manual.payTo === ''
          ? unused('nothing can be bought (PAYMENTS and MANUAL_PAY_TO say how to be paid)')
          : ok(`by hand${describeHold(config.manual)}`),
      ]
    case 'dev':
      return [warning('PAYMENTS=dev: everything counts as paid', 'use it only to try things out')]
    case 'evm':
      return await Promise.all(
        config.evm.chains.map(async ({ chainId, rpcUrls, agree }) => {
          const endpoints = await Promise.all(rpcUrls.map((url) => askEvm(url, chainId, patient)))
          return judged(`evm:${chainId}`, endpoints, agree)
        }),
      )
    case 'tron': {
      const { apiUrls, agree } = config.tron
      const endpoints = await Promise.all(
        apiUrls.map((apiUrl) => askTron({ ...config.tron, apiUrl }, patient)),
      )
      return [judged('tron', endpoints, agree)]
    }
    case 'webhook':
      return [judged(config.webhook.processor, [await askProcessor(config.webhook.apiUrl)], 1)]
    default:
      return config satisfies never
  }
}

function judged(name: string, endpoints: readonly Endpoint[], agree: number): Finding {
  const { ok, warning, failed } = findingsOf('payments')
  const bad = endpoints.filter(({ problem }) => problem !== undefined)
  const good = endpoints.length - bad.length
  const reasons = bad.map(({ host, problem }) => `${host}: ${problem}`).join('; ')
  if (good < agree)
    return failed(
      `${name}: ${good} of ${endpoints.length} endpoints can be used, and ${agree} must agree, so payments wait (${reasons})`,
      'correct the address or the key, or add other endpoints',
    )
  if (bad.length > 0) return warning(`${name}: ${reasons}`, 'correct this endpoint, or replace it')
  return ok(`${name}: ${endpoints.map(({ host }) => host).join(', ')}`)
}

async function askEvm(url: string, chainId: number, { clock, randomBytes }: Patient): Promise<Endpoint> {
  const host = new URL(url).host
  const problems: string[] = []
  const note = (_event: string, { reason }: LogFields = {}): void => void problems.push(reason ?? '')
  const log: Log = { error: note, warn: note, info: () => undefined, debug: () => undefined }
  const stopping = new AbortController().signal
  const rpc = new Rpc([url], { chainId, clock, randomBytes, log, stopping, restMs: TRIES_LATER_MS })
  try {
    const head = await rpc.ask((chain) => chain.head())
    return { host, problem: head ? ageProblem(head.at, clock.now()) : 'it has no newest block' }
  } catch (error) {
    if (error instanceof ChainUnreachable) return { host, problem: problems.at(-1) ?? 'it does not answer' }
    throw error
  }
}

async function askTron(
  config: { readonly apiUrl: string; readonly apiKey: string; readonly chainId: number },
  { clock }: Patient,
): Promise<Endpoint> {
  const { host } = new URL(config.apiUrl)
  const pace = { betweenMs: 0, backOffMs: TRIES_LATER_MS }
  const grid = new TronGrid(config, { clock, pace, stopping: new AbortController().signal })
  try {
    const chainId = await grid.chainId()
    if (chainId !== config.chainId) return { host, problem: `its chain is ${chainId}, not ${config.chainId}` }
    return { host, problem: ageProblem((await grid.head()).at, clock.now()) }
  } catch (error) {
    return { host, problem: reasonOf(error) }
  }
}

function ageProblem(at: number, now: number): string | undefined {
  const age = now - at
  return age > MOST_AGE_MS ? `its newest block is ${Math.round(age / 60_000)} minutes old` : undefined
}

async function askProcessor(apiUrl: string): Promise<Endpoint> {
  const { host } = new URL(apiUrl)
  try {
    await request(apiUrl, { method: 'GET', headers: {}, mostBytes: MOST_BYTES })
    return { host, problem: undefined }
  } catch (error) {
    return { host, problem: error instanceof AnswerTooLarge ? undefined : reasonOf(error) }
  }
}
