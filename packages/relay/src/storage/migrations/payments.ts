// Orders, the payments seen for them, what sellers are due, and what was done to each.
import { type Migration, words } from './migration.ts'

export const payments: Migration = (dialect) => {
  const { identity, clustered } = words(dialect)
  return [
    // kind: vanity, reserve, channel, quota; ref_id: the id, the channel's id or 'channel_quota'.
    // title: what is bought, for people to read.
    // holds: what nobody else can order while it is set, such as 'alias:ada' or 'channel:ch_…'.
    // party: who may not hold the same thing again for a while, if this comes to nothing.
    // pay_to, asset, amount: where to pay and what, in the asset's smallest unit; empty until the provider gave them.
    // page_token: under which the page to pay on is found. hosted_page: the processor's own page, if it has one.
    `CREATE TABLE orders (
      id ${identity},
      order_id TEXT NOT NULL UNIQUE,
      kind TEXT NOT NULL,
      ref_id TEXT NOT NULL,
      title TEXT NOT NULL,
      holds TEXT,
      buyer_id BIGINT REFERENCES accounts (id),
      seller_id BIGINT REFERENCES accounts (id),
      party TEXT,
      price BIGINT NOT NULL,
      provider TEXT NOT NULL,
      deposit_index BIGINT NOT NULL,
      pay_to TEXT NOT NULL,
      asset TEXT NOT NULL,
      amount TEXT NOT NULL,
      hosted_page TEXT,
      page_token TEXT NOT NULL UNIQUE,
      status TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      confirmed_at BIGINT,
      bound_at BIGINT,
      bound_by BIGINT
    )`,
    // Of two who order the same thing at once, the store lets one through.
    `CREATE UNIQUE INDEX orders_by_hold ON orders (holds) WHERE holds IS NOT NULL`,
    `CREATE INDEX orders_by_buyer ON orders (buyer_id, id)`,
    `CREATE INDEX orders_by_address ON orders (pay_to)`,
    `CREATE INDEX orders_by_end ON orders (status, expires_at)`,
    `CREATE INDEX orders_by_party ON orders (party, ref_id) WHERE party IS NOT NULL`,

    // What was seen of money, by the provider's own reference: the same payment twice is one row. None is ever deleted.
    // scope: the chain or processor, such as 'evm:1'. amount: in the asset's smallest unit. height: its block.
    // state: seen, final, gone (a reorganisation took it away).
    // outcome: NULL while it is judged, counted, refund; refund_amount and reason: what is to be given back, and why.
    `CREATE TABLE payments (
      id ${identity},
      reference TEXT NOT NULL UNIQUE,
      scope TEXT NOT NULL,
      order_number BIGINT NOT NULL,
      asset TEXT NOT NULL,
      amount TEXT NOT NULL,
      at BIGINT NOT NULL,
      height BIGINT,
      state TEXT NOT NULL,
      problem TEXT,
      outcome TEXT,
      refund_amount TEXT,
      reason TEXT,
      refunded_at BIGINT,
      refund_reference TEXT,
      created_at BIGINT NOT NULL
    )`,
    `CREATE INDEX payments_by_order ON payments (order_number)`,
    `CREATE INDEX payments_by_height ON payments (scope, height)`,
    `CREATE INDEX payments_to_refund ON payments (id) WHERE refund_amount IS NOT NULL AND refunded_at IS NULL`,

    // What the operator owes sellers of channels, in whole units.
    `CREATE TABLE payouts (
      id ${identity},
      order_number BIGINT NOT NULL UNIQUE,
      seller_id BIGINT NOT NULL,
      amount BIGINT NOT NULL,
      due_at BIGINT NOT NULL,
      paid_at BIGINT,
      paid_reference TEXT
    )`,
    // Everything that happened to an order: when, by whom ('relay', or the operator's name on the machine), what, and why.
    `CREATE TABLE order_events (
      id ${identity},
      order_number BIGINT NOT NULL,
      at BIGINT NOT NULL,
      who TEXT NOT NULL,
      what TEXT NOT NULL,
      why TEXT NOT NULL
    )`,
    `CREATE INDEX order_events_by_order ON order_events (order_number, id)`,

    // How far each chain has been read: its blocks' hashes, for as far back as a reorganisation may reach.
    `CREATE TABLE chain_blocks (
      scope TEXT NOT NULL,
      height BIGINT NOT NULL,
      hash TEXT NOT NULL,
      at BIGINT NOT NULL,
      PRIMARY KEY (scope, height)
    ) ${clustered}`,
  ]
}
