// One round: a relay, clients, a nemesis for as long as asked; then quiet, and the history is held to the promises.
import { startRelay } from '@sotto/relay/testing'
import { check, isComplete } from './checker.ts'
import { Crowd } from './crowd.ts'
import type { Violation } from './facts.ts'
import { FaultyWire } from './faulty-wire.ts'
import { History, type HistoryEvent } from './history.ts'
import { allDeeds, type Deed, Nemesis, possibleDeeds, RelayDead } from './nemesis.ts'
import { Random } from './random.ts'
import { type Engine, prepareTarget, type Target } from './target.ts'

export interface RoundOptions {
  readonly seed: number
  readonly seconds: number
  /**
   * Goes on until this has happened as well, ten times `seconds` at most once every deed was done: a busy machine gets less
   * done in the same time.
   */
  readonly isEnough?: (counts: Readonly<Record<string, number>>) => boolean
  readonly engine?: Engine
  readonly clients?: number
  /** Only these, of all that can be done. */
  readonly only?: readonly Deed[]
  /** Ends when the relay was killed so often. */
  readonly kills?: number
  /** How long what lasts goes on, at least and at most. */
  readonly lastsMs?: readonly [number, number]
  /** How long everything may take to arrive once all is quiet. */
  readonly quietMs?: number
  /** Where it is expected to break promises, nobody wants its history. */
  readonly savesHistory?: boolean
  /** Another relay than this checkout's. */
  readonly start?: typeof startRelay
}

export interface RoundResult {
  readonly seed: number
  readonly violations: readonly Violation[]
  readonly counts: Readonly<Record<string, number>>
  readonly deeds: Readonly<Partial<Record<Deed, number>>>
  /** How many power cuts found something that was not synced yet. */
  readonly cutsThatTook: number
  /** How often the relay was killed, in whatever deed. */
  readonly kills: number
  /** What could not be done on this machine, and why. */
  readonly missing: readonly string[]
  /** Where the history was written, which is done where it breaks a promise. */
  readonly savedAt: string | undefined
  /** The relay's own log of errors. */
  readonly errors: string
}

const TICK_MS = 20

export async function runRound(options: RoundOptions): Promise<RoundResult> {
  const { seed, engine = 'sqlite', clients = 8, start = startRelay } = options
  const history = new History()
  const target = await prepareTarget(engine, start)
  const proxy = await FaultyWire.start(target.port)
  const crowd = await Crowd.gather(clients, { target, history, seed, port: proxy.port })
  if (target.disk) {
    // Who is there and who knows whom is a given: what is in doubt is what comes after.
    await target.relay.kill('SIGTERM')
    target.disk.settle()
    await target.relay.start()
  }
  const ticks = setInterval(() => crowd.tick(performance.now()), TICK_MS)
  const random = new Random(seed, 1)
  const field = { target, proxy, crowd, history, random, lastsMs: options.lastsMs ?? [300, 3000] } as const
  const nemesis = new Nemesis(field)
  let errors = ''
  try {
    await plague(nemesis, target, {
      ...options,
      random,
      isDone: () => options.isEnough?.(countsOf(history)) ?? true,
    })
    proxy.heal()
    crowd.quieten()
    await settle(history, options.quietMs ?? 30_000)
    // Once more: all is confirmed, so that nothing may come.
    crowd.disconnect()
    await Bun.sleep(600)
  } catch (error) {
    if (!(error instanceof RelayDead)) throw error
    history.add({ type: 'dead', reason: error.message })
  } finally {
    clearInterval(ticks)
    crowd.stop()
    proxy.stop()
    errors = target.relay.errors()
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

/** Everything that can be done comes once, however short the round, and before anything comes again. */
async function plague(
  nemesis: Nemesis,
  target: Target,
  {
    only = allDeeds,
    random,
    seconds,
    kills = Number.POSITIVE_INFINITY,
    isDone,
  }: RoundOptions & { random: Random; isDone: () => boolean },
): Promise<void> {
  const possible = possibleDeeds(target).filter((deed) => only.includes(deed))
  const began = performance.now()
  let lateMs = Number.POSITIVE_INFINITY
  const isOver = (): boolean => {
    const now = performance.now()
    return now > lateMs || (now - began > seconds * 1000 && isDone())
  }
  await Bun.sleep(500)
  for (let isFirst = true; isFirst || !isOver(); isFirst = false) {
    for (const deed of random.shuffle(possible)) {
      if (nemesis.kills >= kills) return
      if (!isFirst && isOver()) break
      await nemesis.strike(deed)
      await Bun.sleep(random.between(50, 500))
    }
    if (possible.length === 0) await Bun.sleep(seconds * 1000)
    // On a slow machine the first of each alone may take that long.
    if (isFirst) lateMs = performance.now() + seconds * 10_000
  }
}

async function settle(history: History, withinMs: number): Promise<void> {
  const late = performance.now() + withinMs
  while (performance.now() < late) {
    await Bun.sleep(400)
    if (isComplete(check(history.events))) return
  }
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
