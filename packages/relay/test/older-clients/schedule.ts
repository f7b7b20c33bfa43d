// One random schedule: three accounts, two or three conversations, and what their users and networks do. At
// the end everything is connected again, and the judge says what is lost, untrue or withheld for ever.
import { Random } from '../../../../bench/faults/random.ts'
import { WireAccount } from '../wire.ts'
import { BySeqClient } from './by-seq-client.ts'
import { Judge, type Pair } from './judge.ts'
import type { ModelClient } from './model-client.ts'
import { type Eras, Moments, untilItWorks } from './moments.ts'
import { OlderClient } from './older-client.ts'
import { Run } from './run.ts'
import { Standstills } from './standstills.ts'

/** What a schedule showed. */
export interface Verdict {
  readonly schedule: number
  /** Marks that were shown and not true. */
  readonly lies: readonly string[]
  /** Messages that were acknowledged and never shown, or never acknowledged. */
  readonly lost: readonly string[]
  /** Marks that never came. */
  readonly withheld: readonly string[]
  /** A `goaway`, or a failure of a model. */
  readonly faults: readonly string[]
  /** How many messages were written, how many expired, and how many the older clients dropped. */
  readonly counts: Counts
}

interface Counts {
  written: number
  expired: number
  dropped: number
}

/** How many schedules run at the same time: they mostly wait. */
const AT_ONCE = 250
/** How long messages, and then marks, may take at the end: longer than the relay holds anything back. */
const PATIENCE_MS = 60_000

/** How often a schedule runs at most, if something is wrong while the process stands still. */
const MOST_TRIES = 5

/** Runs many schedules. @returns those in which something was wrong, and the counts of all */
export async function runSchedules(
  relayUrl: string,
  options: { seed: number; schedules: number; eras: Eras },
): Promise<Counts & { faulty: Verdict[] }> {
  const faulty: Verdict[] = []
  const all: Counts = { written: 0, expired: 0, dropped: 0 }
  let last = 0
  using standstills = new Standstills()
  const worker = async (): Promise<void> => {
    while (last < options.schedules) {
      last += 1
      const verdict = await runWithoutStandstill(relayUrl, { ...options, schedule: last }, standstills)
      if (hasFaults(verdict)) faulty.push(verdict)
      options.eras.ended()
      all.written += verdict.counts.written
      all.expired += verdict.counts.expired
      all.dropped += verdict.counts.dropped
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return { ...all, faulty }
}

/** Runs one schedule, again if it shows a fault and the process stood still meanwhile. */
async function runWithoutStandstill(
  relayUrl: string,
  options: { seed: number; schedule: number; eras: Eras },
  standstills: Standstills,
): Promise<Verdict> {
  for (let triesLeft = MOST_TRIES - 1; ; triesLeft--) {
    const startedAt = performance.now()
    const verdict = await runSchedule(relayUrl, { ...options, patienceMs: PATIENCE_MS })
    if (triesLeft === 0 || !hasFaults(verdict) || !standstills.isAny(startedAt)) return verdict
  }
}

function hasFaults({ lies, lost, withheld, faults }: Verdict): boolean {
  return [lies, lost, withheld, faults].some(({ length }) => length > 0)
}

/**
 * Runs one schedule. With the same seed and number, users and networks do the same things in the same order.
 * @param options.patienceMs how long messages, and then marks, may take at the end
 */
export async function runSchedule(
  relayUrl: string,
  { seed, schedule, eras, patienceMs }: { seed: number; schedule: number; eras: Eras; patienceMs: number },
): Promise<Verdict> {
  const random = new Random(seed, schedule)
  const clients: ModelClient[] = []
  const pairs: Pair[] = []
  const judge = new Judge(pairs, () => eras.count)
  const moments = new Moments(() => {
    if (clients.every(({ running }) => running === 0)) judge.look()
  })
  const add = async (number: number): Promise<ModelClient> => {
    const account = await register(relayUrl)
    const parts = { account, moments, random: new Random(seed, schedule, number), eras }
    const client = number === 1 || random.chance(0.5) ? new OlderClient(parts) : new BySeqClient(parts)
    clients.push(client)
    return client
  }
  const [first, second, third] = [await add(1), await add(2), await add(3)]
  const run = new Run({ clients, pairs, judge, moments, random, patienceMs })
  try {
    for (const client of clients) if (random.chance(0.8)) await client.connect()
    await run.befriend([first, second])
    const steps = random.whole(12, 30)
    const others = random.chance(0.3)
      ? [[first, third] as const, [second, third] as const]
      : [[first, third] as const]
    const from = random.chance(0.5) ? 0 : random.whole(1, steps - 1)
    for (let step = 0; step < steps; step++) {
      if (step === from) for (const pair of others) await run.befriend(pair)
      await run.step()
    }
    const { lost, withheld } = await eras.inPeace(() => run.settle())
    const counts: Counts = { written: 0, expired: 0, dropped: 0 }
    for (const client of clients) {
      counts.written += client.own.length
      counts.expired += client.expired.size
      if (client instanceof OlderClient) counts.dropped += client.dropped
    }
    const faults = clients.flatMap((client) => client.faults)
    return { schedule, lies: judge.lies, lost, withheld, faults, counts }
  } finally {
    for (const client of clients) client.end()
  }
}

function register(relayUrl: string): Promise<WireAccount> {
  const account = new WireAccount(relayUrl)
  return untilItWorks(async () => {
    await account.register()
    return account.uuid && (await account.login()) ? account : undefined
  })
}
