// The tables of orders, the payments for them, the payouts to sellers, and the events of each order.
import { type Migration, sqlWords } from './migration.ts'

export const payments: Migration = (dialect) => {
  const { identity, clustered } = sqlWords(dialect)
  return [
    // kind: vanity, reserve, channel, quota; ref_id: the id, the channel's id or 'channel_quota'.
    // title: the name of the goods, for people to read.
    // holds: the thing that no other order can have while this is set, such as 'alias:ada' or 'channel:ch_…'.
    // party: the account or address that may not hold the same thing again for a while if this order expires
    //   unpaid.
    // pay_to, asset, amount: the address, the asset, and the amount in its smallest unit; empty until the
    //   provider set them.
    // page_token: the token in the URL of the payment page.
    // hosted_page: the processor's own page, if it has one.
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
    // If two buyers order the same thing at the same time, this index lets only one order through.
    `CREATE UNIQUE INDEX orders_by_hold ON orders (holds) WHERE holds IS NOT NULL`,
    `CREATE INDEX orders_by_buyer ON orders (buyer_id, id)`,
    `CREATE INDEX orders_by_address ON orders (pay_to)`,
    // Each index serves one frequent query, so that its cost does not grow with the number of past orders.
    `CREATE INDEX orders_pending ON orders (status, expires_at) WHERE status = 'pending'`,
    `CREATE INDEX orders_watched ON orders (provider, expires_at) WHERE status <> 'pending'`,
    `CREATE INDEX orders_sold ON orders (ref_id) WHERE status = 'confirmed'`,
    `CREATE INDEX orders_by_party ON orders (party, ref_id) WHERE party IS NOT NULL`,

    // Every payment that was seen. The provider's reference keeps the same payment in one row. No row is
    // deleted. scope: the chain or processor, such as 'evm:1'. amount: in the asset's smallest unit. height:
    // the block of the payment. state: seen, final, gone (a reorganisation removed it). outcome: counted,
    // refund, or NULL while it is not decided. refund_amount, reason: how much to refund, and why.
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
    `CREATE INDEX payments_not_final ON payments (scope, height) WHERE state = 'seen'`,
    `CREATE INDEX payments_to_refund ON payments (id) WHERE refund_amount IS NOT NULL AND refunded_at IS NULL`,

    // The amounts that the operator owes to sellers of channels, in whole units.
    `CREATE TABLE payouts (
      id ${identity},
      order_number BIGINT NOT NULL UNIQUE,
      seller_id BIGINT NOT NULL,
      amount BIGINT NOT NULL,
      due_at BIGINT NOT NULL,
      paid_at BIGINT,
      paid_reference TEXT
    )`,
    // The events of each order. who: 'relay', or the operator's user name on the machine.
    `CREATE TABLE order_events (
      id ${identity},
      order_number BIGINT NOT NULL,
      at BIGINT NOT NULL,
      who TEXT NOT NULL,
      what TEXT NOT NULL,
      why TEXT NOT NULL
    )`,
    `CREATE INDEX order_events_by_order ON order_events (order_number, id)`,

    // The invoices or payments to query at a payment processor, by the processor's reference. since: when
    // each was added.
    `CREATE TABLE processor_references (
      reference TEXT PRIMARY KEY,
      since BIGINT NOT NULL
    ) ${clustered}`,

    // The blocks of each chain that were read, with their hashes, as far back as a reorganisation may go.
    `CREATE TABLE chain_blocks (
      scope TEXT NOT NULL,
      height BIGINT NOT NULL,
      hash TEXT NOT NULL,
      at BIGINT NOT NULL,
      PRIMARY KEY (scope, height)
    ) ${clustered}`,
  ]
}
