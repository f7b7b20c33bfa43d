// `costs`: what the table of sizes needs and no other benchmark measures: the bytes of a message and of an
// account in PostgreSQL, and the time and length of a ring on the bus.
import { SQL } from 'bun'
import { readEvent, writeEvent } from '../../packages/relay/src/cluster/node-events.ts'
import { PacketReader, PacketWriter } from '../../packages/relay/src/cluster/packets.ts'
import type { Bench } from '../bench.ts'
import { ratio } from '../measure.ts'
import { preparePostgres } from './machines.ts'
import { populate } from './population.ts'

const ROWS = 100_000
const PAYLOAD = Buffer.alloc(300, 7).toString('base64')
const RINGS = 50_000
/** The rings that the commit of one batch sends together. */
const RINGS_TOGETHER = 20

export const costs: Bench = {
  means: 'bytes of rows in PostgreSQL, and what a ring of the bus costs',
  run: measureCosts,
}

async function measureCosts() {
  const ring = ringCosts()
  await using postgres = await preparePostgres(1, 1)
  await using sql = new SQL(postgres.databaseUrl, { max: 1 })
  await populate(postgres.databaseUrl, 0, ROWS / 2)
  const sizeOf = async (...tables: string[]): Promise<number> => {
    let bytes = 0
    for (const table of tables) {
      await sql.unsafe(`VACUUM FULL ${table}`)
      const [row]: { bytes: string }[] = await sql`SELECT pg_total_relation_size(${table}::regclass) AS bytes`
      bytes += Number(row?.bytes)
    }
    return bytes / ROWS
  }
  await sql`
    INSERT INTO messages (conversation_id, recipient_id, seq, position, kind, message_id, crypto_v, payload, at)
    SELECT i % 50000, i, i, i, 0, gen_random_uuid()::text, 1, ${PAYLOAD}, 1800000000000
    FROM generate_series(1, ${ROWS}::int) AS i`
  await sql`
    INSERT INTO sent_ids (sender_id, message_id, conversation_id, seq, at, is_retracted)
    SELECT i % 50000, gen_random_uuid()::text, i % 50000, i, 1800000000000, 0 FROM generate_series(1, ${ROWS}::int) AS i`
  return {
    settings: { rows: ROWS, payloadCharacters: PAYLOAD.length },
    rows: [
      { of: 'a waiting message of 400 characters, bytes', figure: Math.round(await sizeOf('messages')) },
      { of: 'the id of a message, bytes', figure: Math.round(await sizeOf('sent_ids')) },
      { of: 'an account, bytes', figure: Math.round(await sizeOf('accounts', 'aliases', 'mailboxes')) },
      {
        of: 'a friendship with its conversation, bytes',
        figure: Math.round(2 * (await sizeOf('friendships', 'conversations', 'lanes'))),
      },
      { of: 'a ring with such a message, bytes', figure: ring.bytes },
      { of: 'reading it, µs of CPU', figure: ring.readUs },
    ],
  }
}

/** What a node spends on reading a ring of another node, and on writing one. */
function ringCosts() {
  const uuid = crypto.randomUUID()
  const frame = JSON.stringify({
    ...{ type: 'msg', id: uuid, to: 'u12345678', from: 'u87654321', conv_id: uuid, crypto_v: 1 },
    ...{ payload: PAYLOAD, at: 1_800_000_000_000, seq: 12_345 },
  })
  const line = writeEvent({
    kind: 'ring',
    account: 1_234_567 as never,
    ring: {
      ...{ kind: 'mailbox', firstPosition: 12_345, lastPosition: 12_345, frames: [frame] },
      ...{ bytes: frame.length, convIds: [uuid as never], hasRetractions: false, hasUnlisted: false },
      hasVersion3: false,
    },
  })
  const writer = new PacketWriter('node', { mostBytes: 8000 })
  const packets = Array.from({ length: RINGS / RINGS_TOGETHER }, () =>
    writer.pack(Array<string>(RINGS_TOGETHER).fill(line)),
  ).flat()
  const reader = new PacketReader()
  const before = process.cpuUsage()
  for (const packet of packets) for (const each of reader.read(packet, 0)?.lines ?? []) readEvent(each)
  const { user, system } = process.cpuUsage(before)
  return { bytes: line.length, readUs: ratio((user + system) / RINGS) }
}
