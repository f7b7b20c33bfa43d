// sotto orders: shows and changes orders, through the running relay or, if none runs, in its store.
import type { OrderLine } from '@sotto/relay'
import { CommandError, type CommandGroup, type Flags, neededFlag, textFlag, UsageError } from './command.ts'
import { currentUser } from './operator-name.ts'
import { chainActions, warnOfChains } from './orders-chains.ts'
import { jsonOf, ordersTable, orderText, payoutsTable } from './orders-command-text.ts'
import { moneyActions } from './orders-money.ts'
import { atRelay, environmentOf, type Relay } from './relay-environment.ts'
import { sanitizeLine } from './sanitize.ts'

const STATUSES = ['pending', 'confirmed', 'expired'] as const satisfies readonly OrderLine['status'][]
const KINDS = ['vanity', 'reserve', 'channel', 'quota'] as const satisfies readonly OrderLine['kind'][]
const MOST_ORDERS = 1000
const USUAL_ORDERS = 50

const commonFlags = { json: { type: 'boolean' }, 'data-dir': { type: 'string' } } as const
const changeFlags = { ...commonFlags, reference: { type: 'string' }, why: { type: 'string' } } as const

export const ordersCommand: CommandGroup = {
  name: 'orders',
  summary: 'show and confirm orders; record refunds and payouts',
  help: `Usage: sotto orders list [--status S] [--kind K] [--refunds] [--lost] [--limit N]
       sotto orders show ORDER
       sotto orders confirm ORDER [--reference TEXT] --why TEXT
       sotto orders refund-recorded PAYMENT --reference TEXT --why TEXT
       sotto orders settle-lost ORDER --why TEXT
       sotto orders payouts
       sotto orders payout-paid ORDER --reference TEXT --why TEXT
       sotto orders accounts [--from DATE] [--until DATE]
       sotto orders addresses [--all]
       sotto orders reconcile
       sotto orders chains
       sotto orders rescan --from BLOCK [--chain ID]

Works on the orders of the relay on this machine. It talks to a running relay through a
socket in its data folder, which only the relay's user can open. If no relay runs, it opens
the store.

  list             orders, newest first
    --status S       only ${listOf(STATUSES)} orders
    --kind K         only orders of a kind: ${listOf(KINDS)}
    --refunds        only orders with money that must still be given back
    --lost           only orders whose payment a reorganisation removed after it counted
    --limit N        how many, 1 to ${MOST_ORDERS} (default ${USUAL_ORDERS})
  show             one order: its payments, what you owe its seller, and its history
  confirm          confirm on your word that an order was paid in full. If the order has
                   ended and its goods are no longer for sale at no more than was paid, the
                   payment is recorded to be given back instead. If the relay itself sees a
                   payment later, that counts as a second payment.
  refund-recorded  record that you gave a payment back; "show" lists payments by name. This
                   moves no money, and neither does payout-paid.
  settle-lost      record that you have dealt with an order's lost payments. What you owe its
                   seller is no longer held.
  payouts          what you owe the sellers of channels
  payout-paid      record that you paid the seller
  accounts         sales, payments, refunds and payouts as CSV, by time
    --from DATE      from this day on, such as 2026-01-01 (UTC)
    --until DATE     before this day
  addresses        the deposit addresses that hold money, as CSV, with the path of each key
                   below the extended public key of the settings
    --all            also those that received money and hold none any more
  reconcile        compare the books with the chains, to the smallest unit. The exit code is
                   1 if they differ.
  chains           the chains that are read, and why payments of one wait
  rescan           read a chain again: payments that were missed are found, known ones stay
    --from BLOCK     the first block to read
    --chain ID       the chain's number, if there are several

  --why TEXT       the reason, at most 500 characters. It is stored with your user name on
                   this machine and the time, for every change of an order.
  --reference TEXT how to find the payment, such as its transaction
  --json           print JSON instead of text. Amounts of payments are in the smallest unit.
  --data-dir D     the relay's data folder (default: DATA_DIR, otherwise ./data)

If no relay runs on this machine and DATABASE_URL is set, the command uses that database.
The exit code is 0, 1 if the relay refused, or 2 if the command was called wrongly.`,
  actions: [
    {
      name: 'list',
      options: {
        ...commonFlags,
        status: { type: 'string' },
        kind: { type: 'string' },
        refunds: { type: 'boolean' },
        lost: { type: 'boolean' },
        limit: { type: 'string' },
      },
      run: async (flags) => {
        const filter = {
          ...choiceOf(flags, 'status', STATUSES),
          ...choiceOf(flags, 'kind', KINDS),
          ...(flags.refunds ? { refunds: true } : {}),
          ...(flags.lost ? { lost: true } : {}),
        }
        const limit = limitOf(flags)
        const orders = await tell(flags, (relay, at) =>
          relay.tellRelay(at, 'orders.list', { ...filter, limit }),
        )
        const isAll = Object.keys(filter).length === 0
        await warnOfChains(flags)
        if (orders.length === 0) return print(flags, orders, `There are no ${isAll ? '' : 'such '}orders.`)
        const more = orders.length < limit ? '' : `\nThe newest ${limit}; --limit shows more.`
        return print(flags, orders, ordersTable(orders) + more)
      },
    },
    {
      name: 'show',
      words: ['ORDER'],
      options: commonFlags,
      run: async (flags, [order_id]) => {
        const detail = await tell(flags, (relay, at) => relay.tellRelay(at, 'orders.show', { order_id }))
        return print(flags, detail, orderText(detail))
      },
    },
    {
      name: 'confirm',
      words: ['ORDER'],
      options: changeFlags,
      run: async (flags, [order_id]) => {
        const reference = textFlag(flags, 'reference')?.trim()
        const input = { order_id, ...whoAndWhy(flags), ...(reference ? { reference } : {}) }
        const order = await tell(flags, (relay, at) => relay.tellRelay(at, 'orders.confirm', input))
        const hint = `see "sotto orders show ${order.order_id}"`
        if (order.status !== 'confirmed') {
          if (flags.json) print(flags, order, '')
          throw new CommandError(
            `NOT confirmed: the goods are no longer for sale at what was paid, and the payment is recorded to be given back; ${hint}`,
          )
        }
        const due = order.refunds_due === 0 ? '' : ` Part of the payment is to be given back; ${hint}.`
        return print(flags, order, `${order.order_id} is confirmed.${due}`)
      },
    },
    {
      name: 'refund-recorded',
      words: ['PAYMENT'],
      options: changeFlags,
      run: async (flags, [payment]) => {
        const reference = neededFlag(flags, 'reference', 'how to find the refund')
        const input = { payment, reference, ...whoAndWhy(flags) }
        const line = await tell(flags, (relay, at) => relay.tellRelay(at, 'orders.refund-recorded', input))
        const what = `${line.refund_amount} (smallest units of ${line.asset}) of ${line.reference}`
        return print(flags, line, `Recorded: ${sanitizeLine(what, 600)} was given back.`)
      },
    },
    {
      name: 'settle-lost',
      words: ['ORDER'],
      options: { ...commonFlags, why: { type: 'string' } },
      run: async (flags, [order_id]) => {
        const input = { order_id, ...whoAndWhy(flags) }
        const order = await tell(flags, (relay, at) => relay.tellRelay(at, 'orders.settle-lost', input))
        return print(flags, order, `Recorded: the lost payments of ${order.order_id} are settled.`)
      },
    },
    {
      name: 'payouts',
      options: commonFlags,
      run: async (flags) => {
        const payouts = await tell(flags, (relay, at) => relay.tellRelay(at, 'payouts.due', {}))
        return print(
          flags,
          payouts,
          payouts.length === 0 ? 'You owe no seller anything.' : payoutsTable(payouts),
        )
      },
    },
    {
      name: 'payout-paid',
      words: ['ORDER'],
      options: changeFlags,
      run: async (flags, [order_id]) => {
        const reference = neededFlag(flags, 'reference', 'how to find the payment')
        const input = { order_id, reference, ...whoAndWhy(flags) }
        const payout = await tell(flags, (relay, at) => relay.tellRelay(at, 'payouts.paid', input))
        const seller = sanitizeLine(payout.seller)
        return print(
          flags,
          payout,
          `Recorded: ${seller} was paid ${payout.price_usdt} for ${payout.order_id}.`,
        )
      },
    },
    ...moneyActions,
    ...chainActions,
  ],
}

function tell<T>(
  flags: Flags,
  act: (relay: Relay, environment: Record<string, string | undefined>) => Promise<T>,
): Promise<T> {
  return atRelay((relay) => act(relay, environmentOf(flags)))
}

function print(flags: Flags, answer: unknown, text: string): number {
  process.stdout.write(`${flags.json ? jsonOf(answer) : text}\n`)
  return 0
}

/** The person who changes something, and the reason. */
function whoAndWhy(flags: Flags): { who: string; why: string } {
  return { who: currentUser(), why: neededFlag(flags, 'why', 'why this is done') }
}

function choiceOf(flags: Flags, name: string, values: readonly string[]): Record<string, string> {
  const value = textFlag(flags, name)
  if (value === undefined) return {}
  if (!values.includes(value)) throw new UsageError(`--${name} takes ${listOf(values)}, not "${value}"`)
  return { [name]: value }
}

function limitOf(flags: Flags): number {
  const text = textFlag(flags, 'limit')
  if (text === undefined) return USUAL_ORDERS
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= MOST_ORDERS) return limit
  throw new UsageError(`--limit takes a number from 1 to ${MOST_ORDERS}, not "${text}"`)
}

function listOf(values: readonly string[]): string {
  return `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`
}
