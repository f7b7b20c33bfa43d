// The places where each order can be paid. Before, an order had only one.
import type { Sql } from '../storage.ts'
import { type Migration, sqlWords } from './migration.ts'

const PAGE = 1000

export const orderDestinations: Migration = (dialect) => {
  const { clustered } = sqlWords(dialect)
  return [
    // Every place that was opened for an order. asset: the method by which it was opened. decimals: of the
    // asset. amount: the price in the asset's smallest unit. The columns of the same names in orders are a
    // copy of the row that the buyer chose last.
    `CREATE TABLE order_destinations (
      order_number BIGINT NOT NULL,
      asset TEXT NOT NULL,
      provider TEXT NOT NULL,
      pay_to TEXT NOT NULL,
      decimals BIGINT NOT NULL,
      amount TEXT NOT NULL,
      hosted_page TEXT,
      PRIMARY KEY (order_number, asset)
    ) ${clustered}`,
    `CREATE INDEX order_destinations_by_address ON order_destinations (pay_to)`,
    // Amounts were always the price with the asset's decimals appended to it as zeros.
    `INSERT INTO order_destinations (order_number, asset, provider, pay_to, decimals, amount, hosted_page)
      SELECT id, asset, provider, pay_to, LENGTH(amount) - LENGTH(CAST(price AS TEXT)), amount, hosted_page
      FROM orders WHERE pay_to <> ''`,
    // The decimals of the payment's asset; NULL if orders cannot be paid in it.
    `ALTER TABLE payments ADD COLUMN decimals BIGINT`,
    `UPDATE payments SET decimals = (
      SELECT decimals FROM order_destinations AS opened
      WHERE opened.order_number = payments.order_number AND opened.asset = payments.asset)`,
    nameTokens,
    `DROP INDEX orders_by_address`,
    `DROP INDEX orders_watched`,
    `CREATE INDEX orders_watched ON orders (expires_at) WHERE status <> 'pending'`,
  ]
}

// A transaction can pay in several tokens, so the names of payments on EVM chains now contain the token:
// `evm:1/0x<transaction>/0` becomes `evm:1/0x<transaction>/0x<token>/0`.
async function nameTokens(sql: Sql): Promise<void> {
  let after = 0
  for (;;) {
    const rows = await sql<{ id: number; reference: string; asset: string }>`
      SELECT id, reference, asset FROM payments WHERE id > ${after} ORDER BY id LIMIT ${PAGE}`
    for (const { id, reference, asset } of rows) {
      const { transaction, place } =
        /^(?<transaction>evm:\d+\/0x[0-9a-f]+)\/(?<place>\d+)$/.exec(reference)?.groups ?? {}
      if (place === undefined) continue
      const name = `${transaction}/${asset.slice(asset.indexOf('/') + 1)}/${place}`
      await sql`UPDATE payments SET reference = ${name} WHERE id = ${id}`
    }
    const last = rows.at(-1)
    if (!last) return
    after = last.id
  }
}
