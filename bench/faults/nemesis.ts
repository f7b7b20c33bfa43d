// What is done to the relay and its clients, one thing after another, as the seed has it.
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { operatorCommands } from '@sotto/relay'
import type { Crowd } from './crowd.ts'
import type { Ailment, FaultyWire } from './faulty-wire.ts'
import type { History } from './history.ts'
import type { Random } from './random.ts'
import { MESSAGE_LIFE_MS, type Target } from './target.ts'

/** Everything it can do, and what that is. */
export const deeds = {
  kill: 'SIGKILL, and a new start',
  power: 'a power cut: SIGKILL, and what was not synced is gone, or some of it in any order',
  stop: 'SIGSTOP for a while',
  restart: 'a restart under load',
  full: 'a full disk',
  slow: 'syncs that take long',
  clock: 'a clock that jumps',
  'half-open': 'half-open connections: one direction swallowed, or held back',
  deaf: 'readers that do not read',
  duplicates: 'every frame twice',
  storm: 'reconnects in any order, some before the last connection is closed',
  quarrel: 'friends who part or block each other in the midst of writing, and make up',
  leave: 'an account deleted, and a newcomer in its place',
  age: 'a day that passes at once: what nobody fetched expires',
  postgres: 'a crash of the database',
} as const

export type Deed = keyof typeof deeds

export interface Field {
  readonly target: Target
  readonly proxy: FaultyWire
  readonly crowd: Crowd
  readonly history: History
  readonly random: Random
  /** How long what lasts goes on at least and at most, in milliseconds. */
  readonly lastsMs: readonly [number, number]
}

/** What can be done to this target. */
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

/** By name, as a person gives them. */
export function isDeed(name: string): name is Deed {
  return name in deeds
}

export const allDeeds = Object.keys(deeds).filter(isDeed)

/** The relay did not come up again. */
export class RelayDead extends Error {
  override readonly name = 'RelayDead'
}

const HOUR_MS = 3_600_000
/** More than lies between two of the relay's rounds over what is old. */
const ROUND_MS = 61_000
/** Such a round has come and gone within this. */
const WITHIN_MS = 30_000

export class Nemesis {
  readonly #field: Field
  readonly counts: Partial<Record<Deed, number>> = {}
  /** How many power cuts found something that was not synced yet. */
  cutsThatTook = 0
  kills = 0
  /** How far the clock was set away when the relay last started: to that one it is the right time. */
  #startedOffByMs = 0

  constructor(field: Field) {
    this.#field = field
  }

  /** Does one thing, and mends it. @throws RelayDead */
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

  /** Something that lasts; now and then the relay crashes in the middle of it. */
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

  /** Has clients ask for something, and kills the relay half of the time while the answers may be under way. */
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

  /** Somebody sets the clock; now and then the relay's next round over what is old comes right after. */
  #jump(hours: number): void {
    const { target, random } = this.#field
    target.disk?.moveClock(hours * HOUR_MS)
    // A relay that was started while the clock was wrong would take it for right: that is no promise to hold it to.
    if (this.#startedOffByMs !== 0 || !random.chance(0.7)) return
    // A jump of more than an hour stops all expiry, so that only a lesser one makes anything old.
    if (Math.abs(hours) < 1) this.#noteOld()
    target.disk?.letPass(ROUND_MS)
  }

  /** From here on what is older than a message's life by the relay's clock may be erased. */
  #noteOld(afterMs = 0): void {
    const { target, history } = this.#field
    const before = (target.disk?.clockMs ?? 0) + afterMs + WITHIN_MS - MESSAGE_LIFE_MS
    history.add({ type: 'old', before })
  }

  /** Some stay away while a day passes: what they had not fetched by then is gone, and its senders are told. */
  async #age(): Promise<void> {
    const { target, crowd, random } = this.#field
    // The operator lets expiry go on where an earlier jump has stopped it. The relay is down meanwhile: beside a relay
    // this command would write past the disk that loses what is not synced.
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
    const ballast = join(target.smallDisk ?? '', 'ballast')
    const free = (): void => rmSync(ballast, { force: true })
    this.#note('full', '')
    try {
      fillUp(ballast)
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

function fillUp(path: string): void {
  const file = openSync(path, 'w')
  try {
    for (const size of [1 << 20, 1 << 12]) {
      const block = Buffer.alloc(size, 1)
      try {
        while (writeSync(file, block) > 0);
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
      }
    }
  } finally {
    closeSync(file)
  }
}
