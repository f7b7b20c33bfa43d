// The operator's commands about deposit addresses: what they hold on their chains, beside what the books say
// they received.
import { OrderId, OrderState, ProtocolError } from '@sotto/protocol'
import * as v from 'valibot'
import { type OperatorCommand, OperatorRefusal, operatorCommand } from '../listener/operator-command.ts'
import type { Sql, Storage } from '../storage/storage.ts'
import type { Order, OrderNumber } from './order.ts'
import type { PaymentMethods } from './payment-methods.ts'
import type { PaymentProvider } from './provider.ts'

/** How many orders one command asks the chains about. An interface may allow only a few requests a second. */
const PAGE = 20

/** What an address of an order holds of one asset. */
export const HoldingLine = v.object({
  order_id: OrderId,
  status: OrderState,
  address: v.string(),
  /** Where a wallet finds its key, below the extended public key of the settings: `0/17`. */
  path: v.string(),
  asset: v.string(),
  symbol: v.string(),
  network: v.string(),
  decimals: v.number(),
  /** What it holds, in the asset's smallest unit, like all amounts. */
  balance: v.string(),
  /** What it received, by the books, up to the same block. */
  booked: v.string(),
  /** The block; null for what it holds now. */
  height: v.nullable(v.number()),
})
/** See {@link HoldingLine}. */
export type HoldingLine = v.InferOutput<typeof HoldingLine>

/** The schema of each command's answer. */
export const holdingAnswers = {
  'holdings.list': v.object({
    lines: v.array(HoldingLine),
    /** The number after which the next page begins; null after the last. */
    next: v.nullable(v.number()),
  }),
  'holdings.moved-out': v.object({ amount: v.string() }),
} as const

interface Parts {
  readonly storage: Storage
  /** Undefined if no relay runs, which alone can ask the chains. */
  readonly methods: PaymentMethods | undefined
}

/** The commands, by name. */
export function holdingCommands({
  storage,
  methods,
}: Parts): Readonly<Record<keyof typeof holdingAnswers, OperatorCommand>> {
  return {
    /**
     * Lists what the deposit addresses of a page of orders hold of every asset in which orders can be paid,
     * and what the books say they received. Lines with neither are left out.
     */
    'holdings.list': operatorCommand(v.object({ after: v.optional(v.number(), 0) }), async ({ after }) => {
      const page = await storage.sql<{ order_number: OrderNumber }>`
        SELECT DISTINCT order_number FROM order_destinations WHERE order_number > ${after}
        ORDER BY order_number LIMIT ${PAGE}`
      const last = page.at(-1)?.order_number
      const addresses = last === undefined ? [] : await listAddresses(storage.sql, { after, last })
      const lines: HoldingLine[] = []
      for (const provider of providersOf(methods)) {
        const own = addresses.filter(({ provider: name }) => name === provider.name)
        if (own.length > 0) lines.push(...(await linesOf(storage.sql, provider, own)))
      }
      return { lines, next: page.length < PAGE ? null : (last ?? null) }
    }),

    /** How much of an asset ever left the address of an order, up to a block. */
    'holdings.moved-out': operatorCommand(
      v.object({ order_id: OrderId, asset: v.string(), address: v.string(), height: v.nullable(v.number()) }),
      async ({ order_id, asset, address, height }) => {
        const provider = providersOf(methods).find((each) => each.methods.some((one) => one.asset === asset))
        const [row] = await storage.sql<{ id: number; first: number | null }>`
          SELECT orders.id, (SELECT MIN(height) FROM payments
            WHERE order_number = orders.id AND payments.asset = ${asset}) AS first
          FROM orders JOIN order_destinations ON order_number = orders.id
          WHERE order_id = ${order_id} AND order_destinations.pay_to = ${address}`
        if (!provider?.movedOut || !row) throw new OperatorRefusal('there is no such address')
        const what = { payTo: address, asset, from: row.first ?? height ?? 0, to: height ?? undefined }
        return { amount: (await asked(provider, () => provider.movedOut?.(what) ?? 0n)).toString() }
      },
    ),
  }
}

function providersOf(methods: PaymentMethods | undefined): PaymentProvider[] {
  if (!methods) throw new OperatorRefusal('only a running relay asks the chains, and none runs here')
  return methods.providers.filter(({ holdings }) => holdings !== undefined)
}

interface Address {
  readonly id: OrderNumber
  readonly order_id: OrderId
  readonly status: Order['status']
  readonly deposit_index: number
  readonly provider: string
  readonly pay_to: string
}

function listAddresses(sql: Sql, { after, last }: { after: number; last: number }): Promise<Address[]> {
  return sql<Address>`
    SELECT DISTINCT orders.id, order_id, status, deposit_index, opened.provider, opened.pay_to
    FROM orders JOIN order_destinations AS opened ON opened.order_number = orders.id
    WHERE orders.id > ${after} AND orders.id <= ${last} ORDER BY orders.id`
}

async function linesOf(
  sql: Sql,
  provider: PaymentProvider,
  addresses: readonly Address[],
): Promise<HoldingLine[]> {
  const found = await asked(provider, () => provider.holdings?.(addresses.map(({ pay_to }) => pay_to)))
  if (!found) return []
  const lines: HoldingLine[] = []
  for (const { payTo, asset, balance } of found.holdings) {
    const order = addresses.find(({ pay_to }) => pay_to === payTo)
    const method = provider.methods.find((each) => each.asset === asset)
    if (!order || !method) throw new Error('a holding of another address or asset')
    const booked = await bookedOf(sql, { order, asset, height: found.height })
    if (booked === 0n && balance === 0n) continue
    const { symbol, network, decimals } = method
    lines.push({
      ...{ order_id: order.order_id, status: order.status, address: payTo, path: `0/${order.deposit_index}` },
      ...{ asset, symbol, network, decimals, balance: balance.toString(), booked: booked.toString() },
      height: found.height ?? null,
    })
  }
  return lines
}

// What an operator said to have arrived (`manual`) was not seen on a chain.
async function bookedOf(
  sql: Sql,
  { order, asset, height }: { order: Address; asset: string; height: number | undefined },
): Promise<bigint> {
  const rows = await sql<{ amount: string; height: number | null }>`
    SELECT amount, height FROM payments
    WHERE order_number = ${order.id} AND asset = ${asset} AND state <> 'gone' AND scope <> 'manual'`
  const known = rows.filter((row) => height === undefined || (row.height ?? 0) <= height)
  return known.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
}

async function asked<T>({ methods }: PaymentProvider, ask: () => Promise<T> | T): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof ProtocolError) || error.code !== 'PAYMENTS_UNAVAILABLE') throw error
    throw new OperatorRefusal(`the chain of ${methods[0]?.asset} cannot be read now`)
  }
}
