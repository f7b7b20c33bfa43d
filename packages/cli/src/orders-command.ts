// sotto orders: what an operator sees and does of orders, at the relay that runs or, where none does, at its store.
import type { OrderLine } from '@sotto/relay'
import { CommandError, type CommandGroup, type Flags, neededFlag, textFlag, UsageError } from './command.ts'
import { jsonOf, ordersTable, orderText, payoutsTable } from './orders-command-text.ts'
import { atRelay, environmentOf, type Relay } from './relay-environment.ts'
import { sanitizeLine } from './sanitize.ts'

const STATUSES = ['pending', 'confirmed', 'expired'] as const satisfies readonly OrderLine['status'][]
const KINDS = ['vanity', 'reserve', 'channel', 'quota'] as const satisfies readonly OrderLine['kind'][]
const MOST_ORDERS = 1000
const USUAL_ORDERS = 50

const everywhere = { json: { type: 'boolean' }, 'data-dir': { type: 'string' } } as const
const changes = { ...everywhere, reference: { type: 'string' }, why: { type: 'string' } } as const

export const ordersCommand: CommandGroup = {
  name: 'orders',
  summary: 'see orders; confirm them, note refunds and payouts',
  help: `Usage: sotto orders list [--status S] [--kind K] [--refunds] [--limit N]
       sotto orders show ORDER
       sotto orders confirm ORDER [--reference TEXT] --why TEXT
       sotto orders refund-recorded PAYMENT --reference TEXT --why TEXT
       sotto orders payouts
       sotto orders payout-paid ORDER --reference TEXT --why TEXT

The orders of the relay on this machine. A relay that runs is told through a socket in its
data folder that only its own user can open; where none runs, its store is opened.

  list             orders, the newest first
    --status S       only those that are ${listed(STATUSES)}
    --kind K         only those of a kind: ${listed(KINDS)}
    --refunds        only those with money that is still to be given back
    --limit N        how many, 1 to ${MOST_ORDERS} (default ${USUAL_ORDERS})
  show             one order: its payments, what its seller is owed, and what was done to it
  confirm          take your word that an order was paid in full. If it is over and what was
                   ordered is free no more, the payment is noted to be given back instead. A
                   payment the relay itself sees for it later counts as a second one.
  refund-recorded  note that you gave a payment back; "show" lists payments by name. This
                   moves no money, and neither does payout-paid.
  payouts          what sellers of channels are owed
  payout-paid      note that you paid the seller

  --why TEXT       why, at most 500 characters; kept with your name on this machine and the
                   time, as is everything that changes an order
  --reference TEXT what the money can be found by, such as its transaction
  --json           print JSON instead of text. Amounts of payments are in the smallest unit.
  --data-dir D     the relay's data folder (default: DATA_DIR, else ./data)

Where no relay runs on this machine and DATABASE_URL is set, it is that database that is meant.
Exit code 0, or 1 where it was refused, or 2 where it was called wrongly.`,
  actions: [
    {
      name: 'list',
      options: {
        ...everywhere,
        status: { type: 'string' },
        kind: { type: 'string' },
        refunds: { type: 'boolean' },
        limit: { type: 'string' },
      },
      run: async (flags) => {
        const filter = {
          ...chosen(flags, 'status', STATUSES),
          ...chosen(flags, 'kind', KINDS),
          ...(flags.refunds ? { refunds: true } : {}),
        }
        const limit = limitOf(flags)
        const orders = await tell(flags, (relay, at) =>
          relay.tellRelay(at, 'orders.list', { ...filter, limit }),
        )
        const isAll = Object.keys(filter).length === 0
        if (orders.length === 0) return print(flags, orders, `There are no ${isAll ? '' : 'such '}orders.`)
        const more = orders.length < limit ? '' : `\nThe newest ${limit}; --limit shows more.`
        return print(flags, orders, ordersTable(orders) + more)
      },
    },
    {
      name: 'show',
      words: ['ORDER'],
      options: everywhere,
      run: async (flags, [order_id]) => {
        const detail = await tell(flags, (relay, at) => relay.tellRelay(at, 'orders.show', { order_id }))
        return print(flags, detail, orderText(detail))
      },
    },
    {
      name: 'confirm',
      words: ['ORDER'],
      options: changes,
      run: async (flags, [order_id]) => {
        const reference = textFlag(flags, 'reference')?.trim()
        const input = { order_id, ...signed(flags), ...(reference ? { reference } : {}) }
        const order = await tell(flags, (relay, at) => relay.tellRelay(at, 'orders.confirm', input))
        const look = `"sotto orders show ${order.order_id}" tells more`
        if (order.status !== 'confirmed') {
          if (flags.json) print(flags, order, '')
          throw new CommandError(
            `NOT confirmed: what was ordered can be handed over no more, the payment is noted to be given back; ${look}`,
          )
        }
        const due = order.refunds_due === 0 ? '' : ` Some of what was paid is to be given back: ${look}.`
        return print(flags, order, `${order.order_id} is confirmed.${due}`)
      },
    },
    {
      name: 'refund-recorded',
      words: ['PAYMENT'],
      options: changes,
      run: async (flags, [payment]) => {
        const reference = neededFlag(flags, 'reference', 'what the refund can be found by')
        const input = { payment, reference, ...signed(flags) }
        const line = await tell(flags, (relay, at) => relay.tellRelay(at, 'orders.refund-recorded', input))
        const what = `${line.refund_amount} (smallest units of ${line.asset}) of ${line.reference}`
        return print(flags, line, `Noted: ${sanitizeLine(what, 600)} was given back.`)
      },
    },
    {
      name: 'payouts',
      options: everywhere,
      run: async (flags) => {
        const payouts = await tell(flags, (relay, at) => relay.tellRelay(at, 'payouts.due', {}))
        return print(
          flags,
          payouts,
          payouts.length === 0 ? 'No seller is owed anything.' : payoutsTable(payouts),
        )
      },
    },
    {
      name: 'payout-paid',
      words: ['ORDER'],
      options: changes,
      run: async (flags, [order_id]) => {
        const reference = neededFlag(flags, 'reference', 'what the payment can be found by')
        const input = { order_id, reference, ...signed(flags) }
        const payout = await tell(flags, (relay, at) => relay.tellRelay(at, 'payouts.paid', input))
        const seller = sanitizeLine(payout.seller)
        return print(flags, payout, `Noted: ${seller} was paid ${payout.price_usdt} for ${payout.order_id}.`)
      },
    },
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

/** Who changes something, and why. */
function signed(flags: Flags): { who: string; why: string } {
  return { who: whoRunsThis(), why: neededFlag(flags, 'why', 'why this is done') }
}

function whoRunsThis(): string {
  const { SUDO_USER } = process.env
  if (SUDO_USER) return `${SUDO_USER} (sudo)`
  return nameOfUser() ?? `user ${process.getuid?.() ?? 'unknown'}`
}

// Asked of the system, since Bun's userInfo believes the variable USER. A container may have no `id`, or no name to tell.
function nameOfUser(): string | undefined {
  try {
    const { success, stdout } = Bun.spawnSync(['id', '-un'], { stderr: 'ignore' })
    return success ? stdout.toString().trim() : undefined
  } catch {
    return undefined
  }
}

function chosen(flags: Flags, name: string, values: readonly string[]): Record<string, string> {
  const value = textFlag(flags, name)
  if (value === undefined) return {}
  if (!values.includes(value)) throw new UsageError(`--${name} takes ${listed(values)}, not "${value}"`)
  return { [name]: value }
}

function limitOf(flags: Flags): number {
  const text = textFlag(flags, 'limit')
  if (text === undefined) return USUAL_ORDERS
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= MOST_ORDERS) return limit
  throw new UsageError(`--limit takes a number from 1 to ${MOST_ORDERS}, not "${text}"`)
}

function listed(values: readonly string[]): string {
  return `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`
}
