// Injects faults into the relay and its clients, one after another, in an order that the seed decides.
import { operatorCommands } from '@sotto/relay'
import type { Crowd } from './crowd.ts'
import type { Ailment, FaultyWire } from './faulty-wire.ts'
import type { History } from './history.ts'
import type { Random } from './random.ts'
import { MESSAGE_LIFE_MS, type Target } from './target.ts'

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
} as const

export type Deed = keyof typeof deeds

export interface Field {
  readonly target: Target
  readonly proxy: FaultyWire
  readonly crowd: Crowd
  readonly history: History
  readonly random: Random
  /** The minimum and maximum duration of lasting faults, in milliseconds. */
  readonly lastsMs: readonly [number, number]
}

/** The faults that are possible for this target. */
export function possibleDeeds(target: Target): Deed[] {
  const lacks: Partial<Record<Deed, boolean>> = {
    power: !target.disk || target.postgres !== undefined,
    slow: !target.disk || target.postgres !== undefined,
    clock: !target.disk,
    age: !target.disk,
    full: !target.smallDisk,
    postgres: !target.postgres,
  }
  return allDeeds.filter((deed) => !lacks[deed])
}

/** Whether this is the name of a fault. */
export function isDeed(name: string): name is Deed {
  return name in deeds
}

export const allDeeds = Object.keys(deeds).filter(isDeed)

/** The relay did not start again. */
export class RelayDead extends Error {
  override readonly name = 'RelayDead'
}

const HOUR_MS = 3_600_000
/** Longer than the interval between two expiry passes of the relay. */
const ROUND_MS = 61_000
/** An expiry pass is complete within this time. */
const WITHIN_MS = 30_000

export class Nemesis {
  readonly #field: Field
  readonly counts: Partial<Record<Deed, number>> = {}
  /** How many power cuts found unsynced data. */
  cutsThatTook = 0
  kills = 0
  /** The clock's offset at the relay's last start, which this process takes as correct. */
  #startedOffByMs = 0

  constructor(field: Field) {
    this.#field = field
  }

  /** Injects one fault and repairs it. @throws RelayDead */
  async strike(deed: Deed): Promise<void> {
    this.counts[deed] = (this.counts[deed] ?? 0) + 1
    const { random, target, crowd, proxy } = this.#field
    switch (deed) {
      case 'kill':
        return await this.#crash(deed)
      case 'power':
        return await this.#crash(deed)
      case 'stop':
        return await this.#stop()
      case 'restart':
        return await this.#restart()
      case 'postgres':
        return await this.#crashPostgres()
      case 'full':
        return await this.#fill()
      case 'slow': {
        const syncMs = random.pick([5, 30, 120])
        return await this.#during(deed, `${syncMs} ms a sync`, {
          begin: () => target.disk?.slowDown(syncMs),
          end: () => target.disk?.slowDown(),
        })
      }
      case 'clock': {
        const hours = random.pick([-1000, -2, -0.01, 0.01, 2, 30, 30, 1000])
        return await this.#during(deed, `${hours} hours`, {
          begin: () => this.#jump(hours),
          end: () => target.disk?.moveClock(0),
        })
      }
      case 'half-open': {
        const ailment = random.pick(ailments)
        return await this.#during(deed, ailment, {
          begin: () => proxy.ail(ailment, () => random.chance(0.5)),
          end: () => proxy.heal(),
        })
      }
      case 'deaf': {
        const begin = (): void => {
          for (const client of crowd.clients) if (random.chance(0.4)) client.deafen(this.#while())
        }
        return await this.#during(deed, '', { begin, end: () => undefined })
      }
      case 'duplicates': {
        const times = random.pick([2, 2, 3])
        return await this.#during(deed, `${times} times`, {
          begin: () => this.#sendTimes(times),
          end: () => this.#sendTimes(1),
        })
      }
      case 'storm':
        return await this.#storm()
      case 'quarrel':
        return await this.#shake(deed, () => {
          for (const [n, client] of random.shuffle(crowd.clients).entries())
            if (n < crowd.clients.length / 2) client.fallOut(n % 2 === 0 ? 'block' : 'part')
        })
      case 'leave':
        return await this.#shake(deed, () => crowd.depart(random))
      case 'age':
        return await this.#age()
      default:
        return deed satisfies never
    }
  }

  #while(): number {
    return this.#field.random.between(...this.#field.lastsMs)
  }

  #note(what: Deed, detail: string): void {
    this.#field.history.add({ type: 'nemesis', what, detail })
  }

  /** A lasting fault. Sometimes the relay crashes during it. */
  async #during(deed: Deed, detail: string, { begin, end }: { begin: () => unknown; end: () => unknown }) {
    this.#note(deed, detail)
    begin()
    try {
      await Bun.sleep(this.#while())
      if (this.#field.random.chance(0.4)) {
        await this.#crash(possibleDeeds(this.#field.target).includes('power') ? 'power' : 'kill')
        await Bun.sleep(this.#while() / 2)
      }
    } finally {
      end()
      this.#note(deed, 'over')
    }
  }

  /** Makes clients send requests. Half of the time, it kills the relay while answers may be in transit. */
  async #shake(deed: Deed, ask: () => void): Promise<void> {
    const { random } = this.#field
    this.#note(deed, '')
    ask()
    if (random.chance(0.5)) {
      await Bun.sleep(random.between(0, 40))
      await this.#crash(possibleDeeds(this.#field.target).includes('power') ? 'power' : 'kill')
    }
    await Bun.sleep(this.#while())
    this.#note(deed, 'over')
  }

  async #crash(how: 'kill' | 'power', beforeStart: () => unknown = () => undefined): Promise<void> {
    const { target, random } = this.#field
    await target.relay.kill('SIGKILL')
    this.kills += 1
    await beforeStart()
    const cut = how === 'power' ? target.disk?.cutPower(random) : undefined
    if (cut && cut.unsynced.length > 0) this.cutsThatTook += 1
    this.#note(how, cut ? `of ${cut.unsynced.join(', ') || 'nothing'} ${cut.survival} survives` : '')
    if (random.chance(0.3)) await Bun.sleep(random.between(0, 300))
    await this.#start()
  }

  async #start(): Promise<void> {
    this.#startedOffByMs = this.#field.target.disk?.clockIsOffByMs ?? 0
    try {
      await this.#field.target.relay.start()
    } catch (error) {
      throw new RelayDead(error instanceof Error ? error.message : String(error))
    }
  }

  /** Sets the clock. Sometimes the relay's next expiry pass follows at once. */
  #jump(hours: number): void {
    const { target, random } = this.#field
    target.disk?.moveClock(hours * HOUR_MS)
    // A relay that starts with a wrong clock takes it as correct. The promises do not cover this.
    if (this.#startedOffByMs !== 0 || !random.chance(0.7)) return
    // A jump of more than an hour stops all expiry, so only a smaller one makes messages expire.
    if (Math.abs(hours) < 1) this.#noteOld()
    target.disk?.letPass(ROUND_MS)
  }

  /** From now on, the relay may erase messages that are older than a message's life by its clock. */
  #noteOld(afterMs = 0): void {
    const { target, history } = this.#field
    const before = (target.disk?.clockMs ?? 0) + afterMs + WITHIN_MS - MESSAGE_LIFE_MS
    history.add({ type: 'old', before })
  }

  /**
   * A day passes while some clients are offline. Their unfetched messages expire, and the senders are told.
   */
  async #age(): Promise<void> {
    const { target, crowd, random } = this.#field
    // The operator resumes expiry if an earlier jump has stopped it. The relay is down meanwhile: beside a
    // running relay, this command would bypass the simulated disk.
    await this.#crash('kill', async () => {
      target.disk?.settle()
      await operatorCommands['resume-expiry'](target.env)
    })
    await Bun.sleep(300)
    for (const client of crowd.clients)
      if (random.chance(0.4)) client.disconnect(random.between(600, 1500) + this.#while() / 2)
    await Bun.sleep(random.between(100, 300))
    const dayMs = MESSAGE_LIFE_MS + HOUR_MS
    this.#noteOld(dayMs)
    this.#note('age', '')
    target.disk?.letPass(dayMs)
    await Bun.sleep(300)
    this.#note('age', 'over')
  }

  async #stop(): Promise<void> {
    const { target, random } = this.#field
    process.kill(target.relay.pid, 'SIGSTOP')
    this.#note('stop', '')
    await Bun.sleep(this.#while())
    if (random.chance(0.3)) return await this.#crash('kill')
    process.kill(target.relay.pid, 'SIGCONT')
    this.#note('stop', 'over')
  }

  async #restart(): Promise<void> {
    const { target } = this.#field
    this.#note('restart', '')
    const code = await target.relay.kill('SIGTERM')
    if (code !== 0) throw new RelayDead(`SIGTERM ended it with ${code}: ${target.relay.errors().slice(-500)}`)
    await this.#start()
    this.#note('restart', 'over')
  }

  async #crashPostgres(): Promise<void> {
    const { target } = this.#field
    this.#note('postgres', '')
    await target.postgres?.crash()
    await target.postgres?.restart()
    this.#note('postgres', 'over')
  }

  async #fill(): Promise<void> {
    const { target, random } = this.#field
    const free = (): void => target.smallDisk?.empty()
    this.#note('full', '')
    try {
      target.smallDisk?.fillUpTo(0)
      await Bun.sleep(this.#while())
      if (random.chance(0.4)) await this.#crash(target.disk ? 'power' : 'kill', free)
    } finally {
      free()
      this.#note('full', 'over')
    }
  }

  async #storm(): Promise<void> {
    const { crowd, random } = this.#field
    this.#note('storm', '')
    for (let round = random.whole(1, 3); round > 0; round--) {
      for (const client of random.shuffle(crowd.clients)) {
        if (random.chance(0.3)) client.overtake()
        else client.disconnect(random.between(0, 200))
        if (random.chance(0.3)) await Bun.sleep(random.between(0, 20))
      }
      await Bun.sleep(random.between(50, 250))
    }
  }

  #sendTimes(times: number): void {
    for (const client of this.#field.crowd.clients) client.times = times
  }
}

const ailments: readonly Ailment[] = [
  'swallow-to-relay',
  'swallow-to-client',
  'swallow-both',
  'hold-to-relay',
]
