// The table of docs/operations/sizes.md: what a relay for so many accounts needs, by calculation from what
// `npm run bench` measured. `npm run bench -- cluster --only sizes` prints it; a test holds the document to
// it.
import type { Bench } from '../bench.ts'

/** What people do. Assumptions, not measurements. */
const ASSUMED = {
  /** The share of accounts that are connected at the busiest time. */
  connectedShare: 0.1,
  messagesADay: 40,
  /** The busiest second has so many times the average. */
  peak: 3,
  /** Messages that wait for each account on average: most accounts have none, some are away for weeks. */
  waiting: 20,
  friends: 50,
  /** The part of a machine's processor time that is used at the busiest time. */
  busy: 0.5,
  coresOfNode: 8,
  coresOfDatabase: 32,
  /** So many connections a process has at most; a machine has one process a core. */
  connectionsAProcess: 50_000,
  /** A larger database takes too long to copy for a new replica. */
  mostTbOfDatabase: 8,
  /** The part of each core of a node that may go into reading what other nodes tell. */
  mostBusShare: 0.1,
  /** A message between two shards is this many commits instead of one. */
  commitsAcross: 3,
} as const

/** What was measured, with where it is from. */
const MEASURED = {
  /** docs/decisions/0053-a-batch-on-postgresql.md: one message with its confirmation. */
  relayUs: 33,
  databaseUs: 30,
  /** `idle`: right after connecting. */
  connectionKib: 4.2,
  /** A relay without connections: `one-file`. */
  relayMib: 94,
  /** `costs` */
  waitingBytes: 619,
  idBytes: 177,
  accountBytes: 590,
  friendshipBytes: 952,
  ringBytes: 852,
  ringReadUs: 3.2,
} as const

/** The ids of messages are kept so long (docs/protocol.md). */
const ID_DAYS = 90
/** A message rings its recipient, and its confirmation rings its sender. */
const RINGS_A_MESSAGE = 2

/** The needs of a relay for so many accounts. */
export interface Size {
  readonly accounts: number
  readonly connections: number
  /** At the busiest time, also the following. */
  readonly messagesPerSecond: number
  readonly relayCores: number
  readonly databaseCores: number
  /** The cores of each node that only read what other nodes tell. */
  readonly busCoresOfNode: number
  readonly busMegabytesPerSecond: number
  readonly nodes: number
  readonly connectionsGib: number
  readonly shards: number
  readonly databaseTb: number
}

/** Why a relay needs as many databases as it does. */
function shardsFor(databaseCores: number, busShare: number, databaseTb: number): number {
  const byCpu = databaseCores / (ASSUMED.coresOfDatabase * ASSUMED.busy)
  const byBus = busShare / ASSUMED.mostBusShare
  return Math.max(1, Math.ceil(Math.max(byCpu, byBus, databaseTb / ASSUMED.mostTbOfDatabase)))
}

/** Calculates it. Each shard is a relay with its own bus and its own database. */
export function sizeFor(accounts: number): Size {
  const { connectedShare, messagesADay, peak, waiting, friends, busy } = ASSUMED
  const messagesPerSecond = ((accounts * messagesADay) / 86_400) * peak
  const connections = accounts * connectedShare
  const relayCores = (messagesPerSecond * MEASURED.relayUs) / 1e6
  const coresWithin = (messagesPerSecond * MEASURED.databaseUs) / 1e6
  const perAccount =
    MEASURED.accountBytes +
    (friends / 2) * MEASURED.friendshipBytes +
    waiting * MEASURED.waitingBytes +
    messagesADay * ID_DAYS * MEASURED.idBytes
  const databaseTb = (accounts * perAccount) / 1e12
  const busShareOfOne = (messagesPerSecond * RINGS_A_MESSAGE * MEASURED.ringReadUs) / 1e6
  const shards = shardsFor(coresWithin * ASSUMED.commitsAcross, busShareOfOne, databaseTb)
  // The friends of an account are spread over all shards.
  const across = 1 - 1 / shards
  const databaseCores = coresWithin * (1 + across * (ASSUMED.commitsAcross - 1))
  const ringsPerSecond = (messagesPerSecond * RINGS_A_MESSAGE) / shards
  const busCores = (ringsPerSecond * MEASURED.ringReadUs) / 1e6
  // Each process reads the whole bus, so it takes the same from each core, whatever the number of nodes.
  const coreLeft = busy - busCores
  const byCpu = relayCores / (ASSUMED.coresOfNode * coreLeft)
  const byConnections = connections / (ASSUMED.connectionsAProcess * ASSUMED.coresOfNode)
  // One more than needed in each shard, because one may die.
  const nodes = shards * (Math.ceil(Math.max(byCpu, byConnections) / shards) + 1)
  return {
    accounts,
    connections,
    messagesPerSecond,
    relayCores,
    databaseCores,
    busCoresOfNode: busCores * ASSUMED.coresOfNode,
    busMegabytesPerSecond: (ringsPerSecond * MEASURED.ringBytes) / 1e6,
    nodes,
    connectionsGib: (connections * MEASURED.connectionKib) / 1024 ** 2,
    shards,
    databaseTb,
  }
}

const ROWS: readonly (readonly [string, (size: Size) => number])[] = [
  ['connections at the busiest time', ({ connections }) => connections],
  ['messages a second at the busiest time', ({ messagesPerSecond }) => messagesPerSecond],
  ['cores that relays use for them', ({ relayCores }) => relayCores],
  ['cores that PostgreSQL uses for them', ({ databaseCores }) => databaseCores],
  ['databases (shards), each with a replica', ({ shards }) => shards],
  ['nodes, one to spare in each shard', ({ nodes }) => nodes],
  ['memory of all connections, GiB', ({ connectionsGib }) => connectionsGib],
  ['the bus of a shard, MB/s to each process', ({ busMegabytesPerSecond }) => busMegabytesPerSecond],
  ['cores of each node that only read the bus', ({ busCoresOfNode }) => busCoresOfNode],
  ['all databases together, TB', ({ databaseTb }) => databaseTb],
]

/** The table as lines of Markdown. */
export function sizesTable(accounts: readonly number[] = [1e6, 1e7, 1e8]): string[] {
  const sizes = accounts.map(sizeFor)
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [
    line(['', ...accounts.map((count) => `${count / 1e6} million accounts`)]),
    line(['---', ...accounts.map(() => '--:')]),
    ...ROWS.map(([name, of]) => line([name, ...sizes.map((size) => rounded(of(size)))])),
  ]
}

/** Two digits that count: the assumptions are no more exact. */
function rounded(value: number): string {
  return Number(value.toPrecision(2)).toLocaleString('en')
}

export const sizes: Bench = {
  means: 'what 1, 10 and 100 million accounts need, by calculation from measured costs',
  run: async () => {
    const table = [1e6, 1e7, 1e8].map(sizeFor)
    const rows = ROWS.map(([figure, of]) => ({
      figure,
      ...Object.fromEntries(table.map((size) => [`${size.accounts / 1e6} million`, rounded(of(size))])),
    }))
    return { settings: { ...ASSUMED, ...MEASURED }, rows }
  },
}
