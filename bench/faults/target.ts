// The relay under test: one real process or several that share a PostgreSQL, each with its own disk, and the
// fault-injecting layer under it if the machine allows it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mountSmallDisk, type SmallDisk } from '../../packages/relay/test/small-disk.ts'
import { type BusKind, type NatsBus, startNatsBus } from './bus.ts'
import { type Database, startDatabase } from './database.ts'
import { type Builds, endNow, type Node, prepareLayer, startNode } from './node.ts'

export type Engine = 'sqlite' | 'postgres'

/** What a target consists of. */
export interface World {
  readonly engine: Engine
  /** How many relays share the store, which has to be PostgreSQL for more than one. */
  readonly nodes: number
  /** Between several nodes. */
  readonly bus: BusKind
  /** The builds of the relay: the one that all nodes begin with, and the one that may replace it, if any. */
  readonly builds: Builds
}

/** The target of a round's faults. */
export interface Target {
  /** The processes, which are one relay. */
  readonly nodes: readonly [Node, ...Node[]]
  /** The small file system that holds the data and can be filled up, if any. */
  readonly smallDisk: SmallDisk | undefined
  readonly database: Database | undefined
  /** The server of the bus, if that is NATS. */
  readonly bus: NatsBus | undefined
  /** Whether there is another build of the relay. */
  readonly isUpgradable: boolean
  /** The relay's settings; operator commands use the same ones. */
  readonly env: Readonly<Record<string, string>>
  /** The faults that are not possible on this machine, and why. */
  readonly missing: readonly string[]
  remove(): Promise<void>
}

const SMALL_DISK_MIB = 96

/** How long an undelivered message is kept. */
export const MESSAGE_LIFE_MS = 86_400_000

// Small windows, so that a few messages make a slow reader and silence is noticed within a round. Short
// lives, so that one day expires messages, while sent ids, which live for at least 90 days, outlive the
// round.
const SETTINGS = {
  LOG_LEVEL: 'error',
  LIMIT_IDLE_SECONDS: '8',
  LIMIT_FRAME_BYTES: '65536',
  LIMIT_WINDOW_BYTES: '16384',
  LIMIT_OUTBOUND_BYTES: '262144',
  LIMIT_MAILBOX_MESSAGES: '100000',
  LIMIT_MAILBOX_RETRACTIONS: '100000',
  LIMIT_SENT_IDS_PER_DAY: '100000000',
  LIMIT_MESSAGE_LIFE_DAYS: '1',
  // Of the small disk, so that only the fault makes it full, and not the log of a busy round.
  DISK_RESERVE_BYTES: '2097152',
}

/** Starts the relays and what they store in. */
export async function prepareTarget({ engine, nodes: count, builds, ...world }: World): Promise<Target> {
  if (count > 1 && engine !== 'postgres') throw new Error('several nodes share a PostgreSQL')
  const scratch = mkdtempSync(join(tmpdir(), 'sotto-faults-'))
  const missing = new Set<string>()
  const database = engine === 'postgres' ? await startDatabase(count) : undefined
  if (database) missing.add('no power cuts and no disks that fail: PostgreSQL has its own disk')
  const bus = count > 1 && world.bus === 'nats' ? await prepareBus(missing) : undefined
  const smallDisk = database ? undefined : await mount(missing)
  const nodes: Node[] = []
  const clear = (): void => rmSync(scratch, { recursive: true, force: true })
  // If this program fails, nothing else would end the relays.
  const ended = (): void => {
    for (const { relay } of nodes) endNow(relay.pid)
    clear()
  }
  process.once('exit', ended)
  const remove = async (): Promise<void> => {
    process.off('exit', ended)
    for (const node of nodes) await node.remove()
    await smallDisk?.remove()
    clear()
    await bus?.stop()
    await database?.stop()
  }
  const addNode = async (): Promise<Node> => {
    const number = nodes.length
    const folder = smallDisk?.folder ?? join(scratch, `data-${number}`)
    const layer = prepareLayer(folder, join(scratch, `layer-${number}`))
    if (typeof layer === 'string')
      missing.add(`no power cuts, slow disk, jumping clock or passing time: ${layer}`)
    const disk = typeof layer === 'string' ? undefined : layer
    const [way, busWay] = [await database?.addLine(), await bus?.addLine()]
    const env = {
      ...SETTINGS,
      ...(way ? { DATABASE_URL: way.url } : {}),
      ...(busWay ? { NATS_URL: busWay.url } : {}),
    }
    const lines = { line: way?.proxy, busLine: busWay?.proxy }
    const node = await startNode(number, { layer: disk, folder, env, ...lines, builds })
    nodes.push(node)
    return node
  }
  try {
    const first = await addNode()
    const others: Node[] = []
    while (nodes.length < count) others.push(await addNode())
    return {
      nodes: [first, ...others],
      ...{ smallDisk, database, bus, isUpgradable: builds.length > 1 },
      ...{ env: first.env, missing: [...missing], remove },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

async function prepareBus(missing: Set<string>): Promise<NatsBus | undefined> {
  const bus = await startNatsBus()
  if (typeof bus !== 'string') return bus
  missing.add(`no NATS: ${bus}`)
  return undefined
}

async function mount(missing: Set<string>): Promise<SmallDisk | undefined> {
  try {
    return await mountSmallDisk(SMALL_DISK_MIB)
  } catch (error) {
    missing.add(`no full disk: ${error instanceof Error ? error.message.trim() : String(error)}`)
    return undefined
  }
}
