// One round: a relay, clients, a nemesis for as long as asked; then quiet, and the history is held to the promises.
import { startRelay } from '@sotto/relay/testing'
import { befriend, wireAccount } from '@sotto/relay/testing/wire'
import { check, isComplete } from './checker.ts'
import { Client } from './client.ts'
import type { Violation } from './facts.ts'
import { FaultyWire } from './faulty-wire.ts'
import { History } from './history.ts'
import { allDeeds, type Deed, Nemesis, possibleDeeds, RelayDead } from './nemesis.ts'
import { Random } from './random.ts'
import { type Engine, prepareTarget, type Target } from './target.ts'

export interface RoundOptions {
  readonly seed: number
  readonly seconds: number
  readonly engine?: Engine
  readonly clients?: number
  /** Only these, of all that can be done. */
  readonly only?: readonly Deed[]
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
  /** What could not be done on this machine, and why. */
  readonly missing: readonly string[]
  /** Where the history was written, which is done where it breaks a promise. */
  readonly savedAt: string | undefined
  /** The relay's own log of errors. */
  readonly errors: string
}

const TICK_MS = 20
const FRIENDS_EACH = 2

export async function runRound(options: RoundOptions): Promise<RoundResult> {
  const { seed, engine = 'sqlite', clients: count = 8, start = startRelay } = options
  const history = new History()
  const target = await prepareTarget(engine, start)
  const proxy = await FaultyWire.start(target.port)
  const clients = await makeClients(target, { seed, count, history, port: proxy.port })
  if (target.disk) {
    // Who is there and who knows whom is a given: what is in doubt is what comes after.
    await target.relay.kill('SIGTERM')
    target.disk.settle()
    await target.relay.start()
  }
  const ticks = setInterval(() => {
    for (const client of clients) client.tick(performance.now())
  }, TICK_MS)
  const random = new Random(seed, 1)
  const field = { target, proxy, clients, history, random, lastsMs: options.lastsMs ?? [300, 3000] } as const
  const nemesis = new Nemesis(field)
  let errors = ''
  try {
    await plague(nemesis, target, { ...options, random })
    proxy.heal()
    for (const client of clients) client.quieten(target.port)
    await settle(history, options.quietMs ?? 30_000)
    // Once more: all is confirmed, so that nothing may come.
    for (const client of clients) client.disconnect(0)
    await Bun.sleep(600)
  } catch (error) {
    if (!(error instanceof RelayDead)) throw error
    history.add({ type: 'dead', reason: error.message })
  } finally {
    clearInterval(ticks)
    for (const client of clients) client.stop()
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
    missing: target.missing,
    savedAt: isWanted ? await history.save(seed) : undefined,
    errors,
  }
}

async function makeClients(
  { relay }: Target,
  { seed, count, history, port }: { seed: number; count: number; history: History; port: number },
): Promise<Client[]> {
  const clients: Client[] = []
  for (let number = 0; number < count; number++) {
    const random = new Random(seed, 2, number)
    clients.push(new Client(number, await wireAccount(relay.url), { history, random, port }))
  }
  for (const [number, one] of clients.entries()) {
    for (let step = 1; step <= FRIENDS_EACH; step++) {
      const other = (number + step) % count
      const peer = clients[other]
      if (!peer || other === number) continue
      const conv = await befriend(one.account, peer.account)
      one.friends.push({ alias: peer.account.alias, conv })
      peer.friends.push({ alias: one.account.alias, conv })
      const members = [
        { client: number, alias: one.account.alias },
        { client: other, alias: peer.account.alias },
      ] as const
      history.add({ type: 'friends', conv, members })
    }
  }
  return clients
}

/** Everything that can be done comes once, however short the round, and before anything comes again. */
async function plague(
  nemesis: Nemesis,
  target: Target,
  { only = allDeeds, random, seconds }: RoundOptions & { random: Random },
): Promise<void> {
  const possible = possibleDeeds(target).filter((deed) => only.includes(deed))
  const end = performance.now() + seconds * 1000
  await Bun.sleep(500)
  for (let isFirst = true; isFirst || performance.now() < end; isFirst = false) {
    for (const deed of random.shuffle(possible)) {
      if (!isFirst && performance.now() > end) break
      await nemesis.strike(deed)
      await Bun.sleep(random.between(50, 500))
    }
    if (possible.length === 0) await Bun.sleep(seconds * 1000)
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
  for (const event of history.events) {
    const name = 'frame' in event ? `${event.type} ${event.frame.type}` : event.type
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}
