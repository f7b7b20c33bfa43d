// The faults, and which of them are possible for a target.
import type { Target } from './target.ts'

/** All faults, with descriptions. */
export const deeds = {
  kill: 'SIGKILL, and a new start',
  power: 'a power cut: SIGKILL, and unsynced data is lost, or some of it in any order',
  stop: 'SIGSTOP for a while',
  restart: 'a restart under load',
  full: 'a full disk',
  slow: 'syncs that take long',
  clock: 'a clock that jumps',
  'half-open': 'half-open connections: one direction is dropped or delayed',
  deaf: 'clients that do not read',
  duplicates: 'every frame twice',
  storm: 'reconnects in any order, some before the last connection is closed',
  quarrel: 'friends who unfriend or block each other while they write, and make up',
  leave: 'a deleted account, and a new one in its place',
  age: 'a day that passes at once: unfetched messages expire',
  postgres: 'a crash of the database',
  cut: 'nodes whose way to the database stalls, is reset or refused',
  failover: 'a primary of the database that is killed or frozen, and its replica in its place',
  isolate: 'a node of several that no client reaches',
  replace: 'all nodes of several replaced one after the other under load',
  deafness: 'nodes that lose their connection to the bus',
  bus: 'a NATS server that is killed, frozen or restarted',
  unheard: 'nodes whose way to NATS stalls, is reset or refused',
  upgrade: 'nodes replaced by another build of the relay, or back',
} as const

export type Deed = keyof typeof deeds

/** Whether this is the name of a fault. */
export function isDeed(name: string): name is Deed {
  return name in deeds
}

export const allDeeds = Object.keys(deeds).filter(isDeed)

/** The faults that are possible for this target. */
export function possibleDeeds({ nodes, smallDisk, database, bus, isUpgradable }: Target): Deed[] {
  const hasLayer = nodes.every(({ disk }) => disk !== undefined)
  const lacks: Partial<Record<Deed, boolean>> = {
    power: !hasLayer || database !== undefined,
    slow: !hasLayer || database !== undefined,
    clock: !hasLayer,
    age: !hasLayer,
    full: !smallDisk,
    postgres: !database,
    cut: nodes.length === 1,
    failover: !database?.failOver,
    isolate: nodes.length === 1,
    replace: nodes.length === 1,
    deafness: nodes.length === 1,
    bus: !bus,
    unheard: !bus,
    upgrade: !isUpgradable,
  }
  return allDeeds.filter((deed) => !lacks[deed])
}
