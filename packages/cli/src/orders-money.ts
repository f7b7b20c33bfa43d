// sotto orders accounts, addresses and reconcile: where the money is.
import type { AccountEntry, HoldingLine, OrderAccounts } from '@sotto/relay'
import { CommandError, type CommandGroup, type Flags, textFlag, UsageError } from './command.ts'
import { decimalText, jsonOf } from './orders-command-text.ts'
import { Csv } from './orders-csv.ts'
import { atRelay, environmentOf } from './relay-environment.ts'
import { sanitizeText } from './sanitize.ts'

const commonFlags = { json: { type: 'boolean' }, 'data-dir': { type: 'string' } } as const

const accounts = new Csv<keyof AccountEntry>([
  ...(['at', 'entry', 'order_id', 'kind', 'ref_id', 'account', 'provider', 'asset', 'amount'] as const),
  ...(['smallest_units', 'outcome', 'refund_units', 'reason', 'reference'] as const),
])
const addresses = new Csv([
  ...(['address', 'path', 'network', 'symbol', 'amount', 'smallest_units', 'asset', 'order_id'] as const),
  'status',
])

/** The actions about money. */
export const moneyActions: CommandGroup['actions'] = [
  {
    name: 'accounts',
    options: { ...commonFlags, from: { type: 'string' }, until: { type: 'string' } },
    run: async (flags) => {
      const from = dayOf(flags, 'from') ?? 0
      const until = dayOf(flags, 'until') ?? Number.MAX_SAFE_INTEGER
      const entries: AccountEntry[] = []
      if (!flags.json) process.stdout.write(accounts.titles)
      let after: OrderAccounts['next'] | undefined
      do {
        const input = { from, until, ...(after ? { after } : {}) }
        const page = await atRelay((relay) => relay.tellRelay(environmentOf(flags), 'orders.accounts', input))
        if (flags.json) entries.push(...page.entries)
        else process.stdout.write(page.entries.map((entry) => accounts.line(entry)).join(''))
        after = page.next
      } while (after)
      if (flags.json) process.stdout.write(`${jsonOf(entries)}\n`)
      return 0
    },
  },
  {
    name: 'addresses',
    options: { ...commonFlags, all: { type: 'boolean' } },
    run: async (flags) => {
      const lines: HoldingLine[] = []
      if (!flags.json) process.stdout.write(addresses.titles)
      for await (const page of holdings(flags)) {
        const wanted = page.filter(({ balance }) => flags.all || balance !== '0')
        if (flags.json) lines.push(...wanted)
        else process.stdout.write(wanted.map((line) => addresses.line(csvOf(line))).join(''))
      }
      if (flags.json) process.stdout.write(`${jsonOf(lines)}\n`)
      return 0
    },
  },
  {
    name: 'reconcile',
    options: commonFlags,
    run: async (flags) => {
      const lines: ComparedLine[] = []
      for await (const page of holdings(flags)) {
        for (const line of page) lines.push(await compare(flags, line))
      }
      const different = lines.filter(({ difference }) => difference !== '0')
      process.stdout.write(flags.json ? `${jsonOf(lines)}\n` : comparisonText(lines, different))
      if (different.length === 0) return 0
      const count = different.length === 1 ? 'at one address' : `at ${different.length} addresses`
      throw new CommandError(
        `the books and the chains differ ${count}; see "Orders from the command line" in docs/operations/payments.md`,
      )
    },
  },
]

/** A line with what left its address, and by how much the chain has more than the books. */
interface ComparedLine extends HoldingLine {
  readonly moved_out: string
  readonly difference: string
}

async function* holdings(flags: Flags): AsyncGenerator<HoldingLine[]> {
  for (let after: number | null = 0; after !== null; ) {
    const input: object = { after }
    const page = await atRelay((relay) => relay.tellRelay(environmentOf(flags), 'holdings.list', input))
    yield page.lines
    after = page.next
  }
}

// What an address received is what it holds and what has left it. The chain is asked for the latter only
// where it matters.
async function compare(flags: Flags, line: HoldingLine): Promise<ComparedLine> {
  const { order_id, asset, address, height } = line
  const missing = BigInt(line.booked) - BigInt(line.balance)
  if (missing === 0n) return { ...line, moved_out: '0', difference: '0' }
  const input = { order_id, asset, address, height }
  const { amount } = await atRelay((relay) =>
    relay.tellRelay(environmentOf(flags), 'holdings.moved-out', input),
  )
  return { ...line, moved_out: amount, difference: (BigInt(amount) - missing).toString() }
}

function comparisonText(lines: readonly ComparedLine[], different: readonly ComparedLine[]): string {
  if (lines.length === 0) return 'No address of an order has received anything.\n'
  const totals = [...Map.groupBy(lines, ({ asset }) => asset).values()].map((group) => {
    const [{ network, symbol, asset, decimals, height } = none] = group
    const sum = (field: 'booked' | 'balance' | 'moved_out' | 'difference'): string =>
      decimalText(
        group.reduce((total, line) => total + BigInt(line[field]), 0n),
        decimals,
      )
    const upTo = height === null ? '' : `, up to block ${height}`
    return [
      `${symbol} on ${network} (${asset})${upTo}`,
      `  received by the books  ${sum('booked')}`,
      `  held by addresses      ${sum('balance')}`,
      `  moved out of them      ${sum('moved_out')}`,
      `  difference             ${sum('difference')}`,
    ].join('\n')
  })
  const wrong = different.map(({ address, order_id, difference, decimals, symbol }) => {
    const amount = decimalText(BigInt(difference), decimals)
    const what = difference.startsWith('-') ? 'less than' : 'more than'
    return `DIFFERS: ${address} (order ${order_id}) has received ${amount.replace('-', '')} ${symbol} ${what} the books say`
  })
  return `${sanitizeText([...totals, ...wrong].join('\n'))}\n`
}

const none = { network: '', symbol: '', asset: '', decimals: 0, height: null }

function csvOf(line: HoldingLine) {
  const amount = decimalText(BigInt(line.balance), line.decimals)
  return { ...line, decimals: null, booked: null, height: null, amount, smallest_units: line.balance }
}

/** The beginning of a day in UTC, in milliseconds since 1970. */
function dayOf(flags: Flags, name: string): number | undefined {
  const text = textFlag(flags, name)
  if (text === undefined) return undefined
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at)) throw new UsageError(`--${name} takes a day such as 2026-01-31, not "${text}"`)
  return at
}
