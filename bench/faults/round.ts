// One round: a relay of one node or several, its clients and a nemesis for the given time. Then all is quiet,
// and the history is checked.
import { startRelay } from '@sotto/relay/testing'
import { type BusKind, busOf, deafen } from './bus.ts'
import { check, isComplete } from './checker.ts'
import { Crowd } from './crowd.ts'
import { allDeeds, type Deed, possibleDeeds } from './deeds.ts'
import type { Violation } from './facts.ts'
import { History, type HistoryEvent } from './history.ts'
import { type Field, Nemesis, RelayDead } from './nemesis.ts'
import { Random } from './random.ts'
import { type Engine, prepareTarget, type Target } from './target.ts'

export interface RoundOptions {
  readonly seed: number
  readonly seconds: number
  /** Continues until this has happened too, however long that takes, but at most for {@link MOST_PASSES}. */
  readonly isEnough?: (counts: Readonly<Record<string, number>>) => boolean
  readonly engine?: Engine
  /** How many relays share the store. */
  readonly nodes?: number
  /** What carries the notifications of several nodes; the seed decides if undefined. */
  readonly bus?: BusKind | undefined
  readonly clients?: number
  /** Only these of the possible faults. */
  readonly only?: readonly Deed[]
  /** Ends after this many kills. */
  readonly kills?: number
  /** The minimum and maximum duration of lasting faults. */
  readonly lastsMs?: readonly [number, number]
  /** How long deliveries may take once all is quiet. */
  readonly quietMs?: number
  /** Set for relays that must break promises: their history is not written. */
  readonly savesHistory?: boolean
  /** A relay of another checkout. */
  readonly start?: typeof startRelay
  /** Another build. The seed decides which one the round begins with. */
  readonly startOther?: typeof startRelay | undefined
}

export interface RoundResult {
  readonly seed: number
  readonly violations: readonly Violation[]
  readonly counts: Readonly<Record<string, number>>
  readonly deeds: Readonly<Partial<Record<Deed, number>>>
  /** How many power cuts found unsynced data. */
  readonly cutsThatTook: number
  /** The number of kills in all deeds. */
  readonly kills: number
  /** The faults that were not possible on this machine, and why. */
  readonly missing: readonly string[]
  /** The path of the history, which is written if it breaks a promise. */
  readonly savedAt: string | undefined
  /** The relay's error log. */
  readonly errors: string
}

const TICK_MS = 20
/** How often every deed is done until enough has happened. */
const MOST_PASSES = 20
/** After a fault, the relay must acknowledge a new message. Only one that does not serve takes this long. */
const MOST_IDLE_MS = 120_000

export async function runRound(options: RoundOptions): Promise<RoundResult> {
  const { seed, engine = 'sqlite', nodes = 1, clients = 8, start = startRelay } = options
  const history = new History()
  const { bus = busOf(seed), startOther } = options
  const builds = startOther ? inEitherOrder([start, startOther], seed) : ([start] as const)
  const target = await prepareTarget({ engine, nodes, bus, builds })
  if (nodes > 1) history.add({ type: 'settled' })
  const crowd = await Crowd.gather(clients, { target, history, seed })
  // The clients and their friendships are given; the round tests what happens afterwards.
  for (const { relay, disk } of target.nodes) {
    if (!disk) continue
    await relay.kill('SIGTERM')
    disk.settle()
    await relay.start()
  }
  const ticks = setInterval(() => crowd.tick(performance.now()), TICK_MS)
  const random = new Random(seed, 1)
  const field = { target, crowd, history, random, lastsMs: options.lastsMs ?? [300, 3000] } as const
  const nemesis = new Nemesis(field)
  let errors = ''
  try {
    await plague(nemesis, target, {
      ...options,
      random,
      service: new Service(history),
      isDone: () => options.isEnough?.(countsOf(history)) ?? true,
    })
    for (const { wire } of target.nodes) wire.heal()
    crowd.quieten()
    if (await settle({ crowd, history, target, random }, options.quietMs ?? 30_000)) {
      // A second sync: everything is confirmed, so nothing may arrive.
      crowd.disconnect()
      await Bun.sleep(600)
    }
  } catch (error) {
    if (!(error instanceof RelayDead)) throw error
    history.add({ type: 'dead', reason: error.message })
  } finally {
    clearInterval(ticks)
    crowd.stop()
    errors = target.nodes.map(({ relay }) => relay.errors()).join('')
    await target.remove()
  }
  const violations = check(history.events)
  const isWanted = violations.length > 0 && options.savesHistory !== false
  return {
    seed,
    violations,
    counts: countsOf(history),
    deeds: nemesis.counts,
    cutsThatTook: nemesis.cutsThatTook,
    kills: nemesis.kills,
    missing: target.missing,
    savedAt: isWanted ? await history.save(seed) : undefined,
    errors,
  }
}

function inEitherOrder<T>([one, other]: readonly [T, T], seed: number): readonly [T, T] {
  return new Random(seed, 5).chance(0.5) ? [one, other] : [other, one]
}

/**
 * Every possible fault happens once before any repeats, however short the round. After each, the relay must
 * serve.
 */
async function plague(
  nemesis: Nemesis,
  target: Target,
  {
    only = allDeeds,
    random,
    seconds,
    kills = Number.POSITIVE_INFINITY,
    service,
    isDone,
  }: RoundOptions & { random: Random; service: Service; isDone: () => boolean },
): Promise<void> {
  const possible = possibleDeeds(target).filter((deed) => only.includes(deed))
  const began = performance.now()
  const isTimeUp = (): boolean => performance.now() - began > seconds * 1000
  await Bun.sleep(500)
  for (let pass = 1; pass === 1 || !(isTimeUp() && (isDone() || pass > MOST_PASSES)); pass++) {
    for (const deed of random.shuffle(possible)) {
      if (nemesis.kills >= kills) return
      if (pass > 1 && isTimeUp() && isDone()) break
      await nemesis.strike(deed)
      await service.isBack(deed)
      await Bun.sleep(random.between(50, 500))
    }
    if (possible.length === 0) await Bun.sleep(seconds * 1000)
  }
}

/** Notices in a history that the relay serves. */
class Service {
  readonly #history: History
  readonly #sent = new Set<string>()
  /** The messages that were sent for the first time since the latest fault. */
  readonly #fresh = new Set<string>()
  #next = 0

  constructor(history: History) {
    this.#history = history
  }

  /** Resolves when a message is acknowledged that was not sent before this call. @throws RelayDead */
  async isBack(after: Deed): Promise<void> {
    this.#readOn()
    this.#fresh.clear()
    const late = performance.now() + MOST_IDLE_MS
    while (!this.#readOn()) {
      if (performance.now() > late) throw new RelayDead(`it acknowledged no new message after ${after}`)
      await Bun.sleep(TICK_MS)
    }
  }

  /** Reads the new events. @returns whether one of them acknowledges a fresh message */
  #readOn(): boolean {
    let isServed = false
    for (; this.#next < this.#history.events.length; this.#next++) {
      const event = this.#history.events[this.#next]
      if (!event || !('frame' in event)) continue
      const { type } = event.frame
      const message = `${event.client} ${event.frame.id}`
      if (event.type === 'received' && type === 'ack') isServed ||= this.#fresh.has(message)
      if (event.type !== 'sent' || type !== 'msg' || this.#sent.has(message)) continue
      this.#sent.add(message)
      this.#fresh.add(message)
    }
    return isServed
  }
}

/** @returns whether everything arrived in this time */
async function settle(
  { crowd, history, target, random }: Pick<Field, 'crowd' | 'history' | 'target' | 'random'>,
  withinMs: number,
): Promise<boolean> {
  const late = performance.now() + withinMs
  while (!crowd.isSettled && performance.now() < late) await Bun.sleep(TICK_MS)
  // Nobody connects after this, so each of these messages has to find its way by itself, also when the bus
  // does not carry its ring.
  if (target.nodes.length > 1) await deafen(target, () => random.chance(0.6))
  crowd.writeToAll()
  while (performance.now() < late) {
    await Bun.sleep(400)
    if (isComplete(check(history.events))) return true
  }
  return false
}

function countsOf(history: History): Record<string, number> {
  const counts: Record<string, number> = {}
  const begun = new Map<number, string>()
  for (const event of history.events) {
    if (event.type === 'began') begun.set(event.command, event.what)
    const name = nameOf(event, begun)
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

function nameOf(event: HistoryEvent, begun: ReadonlyMap<number, string>): string {
  if (event.type === 'ended') return `${begun.get(event.command)} ${event.outcome}`
  if (!('frame' in event)) return event.type
  const { type, error } = event.frame
  return `${event.type} ${error ?? type}`
}
