// Injects faults into the relays and their clients, one after another, in an order that the seed decides.
import { operatorCommands } from '@sotto/relay'
import type { Crowd } from './crowd.ts'
import { endNotifications, untilTransactionsEnd } from './database.ts'
import { type Deed, possibleDeeds } from './deeds.ts'
import type { Ailment } from './faulty-wire.ts'
import type { History } from './history.ts'
import type { Node } from './node.ts'
import type { Random } from './random.ts'
import { MESSAGE_LIFE_MS, type Target } from './target.ts'

export interface Field {
  readonly target: Target
  readonly crowd: Crowd
  readonly history: History
  readonly random: Random
  /** The minimum and maximum duration of lasting faults, in milliseconds. */
  readonly lastsMs: readonly [number, number]
}

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

  constructor(field: Field) {
    this.#field = field
  }

  /** Injects one fault and repairs it. @throws RelayDead */
  async strike(deed: Deed): Promise<void> {
    await this.#strike(deed)
    const { target, history } = this.#field
    if (target.nodes.length === 1 || !target.database) return
    for (const { number, relay } of target.nodes)
      if (!isAlive(relay.pid))
        throw new RelayDead(`node ${number} ended by itself: ${relay.errors().slice(-500)}`)
    await untilTransactionsEnd(target.database)
    history.add({ type: 'settled' })
  }

  async #strike(deed: Deed): Promise<void> {
    this.counts[deed] = (this.counts[deed] ?? 0) + 1
    const { random, target, crowd } = this.#field
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
        const { disk } = random.pick(target.nodes)
        return await this.#during(deed, `${syncMs} ms a sync`, {
          begin: () => disk?.slowDown(syncMs),
          end: () => disk?.slowDown(),
        })
      }
      case 'clock': {
        const hours = random.pick([-1000, -2, -0.01, 0.01, 2, 30, 30, 1000])
        const node = random.pick(target.nodes)
        return await this.#during(deed, `${hours} hours, node ${node.number}`, {
          begin: () => this.#jump(node, hours),
          end: () => node.disk?.moveClock(0),
        })
      }
      case 'half-open': {
        const ailment = random.pick(ailments)
        return await this.#during(deed, ailment, {
          begin: () => this.#ail(target.nodes, ailment, 0.5),
          end: () => heal(target.nodes),
        })
      }
      case 'isolate': {
        const ailment = random.pick(ailments)
        const nodes = [random.pick(target.nodes)]
        return await this.#during(deed, `${ailment}, node ${nodes[0]?.number}`, {
          begin: () => this.#ail(nodes, ailment, 1),
          end: () => heal(nodes),
        })
      }
      case 'cut':
        return await this.#cut()
      case 'failover':
        this.#note(deed, '')
        await target.database?.failOver?.(random)
        return this.#note(deed, 'over')
      case 'replace':
        return await this.#restart(random.shuffle(target.nodes))
      case 'deafness':
        return await this.#deafenNodes()
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

  /** @param nodes those that may fail because of it; all if undefined */
  #note(what: Deed, detail: string, nodes = this.#field.target.nodes.map(({ number }) => number)): void {
    this.#field.history.add({ type: 'nemesis', what, detail, nodes })
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

  /** Ends a random node, and sometimes more of them or all at once. */
  #crash(how: 'kill' | 'power', beforeStart?: () => unknown): Promise<void> {
    const { target, random } = this.#field
    const count = random.pick([1, 1, 1, 1, 1, 2, 2, target.nodes.length])
    return this.#crashThese(random.shuffle(target.nodes).slice(0, count), how, beforeStart)
  }

  async #crashThese(
    nodes: readonly Node[],
    how: 'kill' | 'power',
    beforeStart: () => unknown = () => undefined,
  ): Promise<void> {
    const { target, random } = this.#field
    await Promise.all(nodes.map(({ relay }) => relay.kill('SIGKILL')))
    this.kills += nodes.length
    await beforeStart()
    const cut = how === 'power' ? target.nodes[0].disk?.cutPower(random) : undefined
    if (cut && cut.unsynced.length > 0) this.cutsThatTook += 1
    const found = cut ? `of ${cut.unsynced.join(', ') || 'nothing'} ${cut.survival} survives` : ''
    this.#note(how, target.nodes.length === 1 ? found : namesOf(nodes))
    if (random.chance(0.3)) await Bun.sleep(random.between(0, 300))
    // Where others serve meanwhile, it is away for longer, too.
    if (nodes.length < target.nodes.length && random.chance(0.5)) await Bun.sleep(this.#while())
    await Promise.all(nodes.map((node) => this.#start(node)))
  }

  async #start(node: Node): Promise<void> {
    node.startedOffByMs = node.disk?.clockIsOffByMs ?? 0
    try {
      await node.relay.start()
    } catch (error) {
      throw new RelayDead(error instanceof Error ? error.message : String(error))
    }
  }

  /** Sets the clock of a node. Sometimes its next expiry pass follows at once. */
  #jump({ disk, startedOffByMs }: Node, hours: number): void {
    const { random } = this.#field
    disk?.moveClock(hours * HOUR_MS)
    // A relay that starts with a wrong clock takes it as correct. The promises do not cover this.
    if (startedOffByMs !== 0 || !random.chance(0.7)) return
    // A jump of more than an hour stops all expiry, so only a smaller one makes messages expire.
    if (Math.abs(hours) < 1) this.#noteOld()
    disk?.letPass(ROUND_MS)
  }

  /** From now on, the relay may erase messages that are older than a message's life by its clock. */
  #noteOld(afterMs = 0): void {
    const { target, history } = this.#field
    const clocks = target.nodes.map(({ disk }) => disk?.clockMs ?? 0)
    const before = Math.max(...clocks) + afterMs + WITHIN_MS - MESSAGE_LIFE_MS
    history.add({ type: 'old', before })
  }

  /**
   * A day passes while some clients are offline. Their unfetched messages expire, and the senders are told.
   */
  async #age(): Promise<void> {
    const { target, crowd, random } = this.#field
    // The operator resumes expiry if an earlier jump has stopped it. The relay is down meanwhile: beside a
    // running relay, this command would bypass the simulated disk.
    await this.#crashThese(target.nodes, 'kill', async () => {
      for (const { disk } of target.nodes) disk?.settle()
      await operatorCommands['resume-expiry'](target.env)
    })
    await Bun.sleep(300)
    for (const client of crowd.clients)
      if (random.chance(0.4)) client.disconnect(random.between(600, 1500) + this.#while() / 2)
    await Bun.sleep(random.between(100, 300))
    const dayMs = MESSAGE_LIFE_MS + HOUR_MS
    this.#noteOld(dayMs)
    this.#note('age', '')
    for (const { disk } of target.nodes) disk?.letPass(dayMs)
    await Bun.sleep(300)
    this.#note('age', 'over')
  }

  async #stop(): Promise<void> {
    const { target, random } = this.#field
    const node = random.pick(target.nodes)
    process.kill(node.relay.pid, 'SIGSTOP')
    this.#note('stop', namesOf([node]))
    await Bun.sleep(this.#while())
    if (random.chance(0.3)) return await this.#crashThese([node], 'kill')
    process.kill(node.relay.pid, 'SIGCONT')
    this.#note('stop', 'over')
  }

  async #restart(nodes = [this.#field.random.pick(this.#field.target.nodes)]): Promise<void> {
    this.#note('restart', namesOf(nodes))
    for (const node of nodes) {
      const { relay } = node
      const code = await relay.kill('SIGTERM')
      if (code !== 0) throw new RelayDead(`SIGTERM ended it with ${code}: ${relay.errors().slice(-500)}`)
      await this.#start(node)
    }
    this.#note('restart', 'over')
  }

  /** Nodes lose their way to the database, and sometimes another node is killed meanwhile. */
  async #cut(): Promise<void> {
    const { target, random } = this.#field
    const shuffled = random.shuffle(target.nodes)
    const count = random.pick([1, 1, 1, 2, shuffled.length])
    const [cut, others] = [shuffled.slice(0, count), shuffled.slice(count)]
    const how = random.pick(['stall', 'stall', 'drop', 'refuse'] as const)
    const numbers = cut.map(({ number }) => number)
    this.#note('cut', `${how}, ${namesOf(cut)}`, numbers)
    for (const { line } of cut) await line?.[how]()
    await Bun.sleep(this.#while())
    if (others.length > 0 && random.chance(0.3)) await this.#crashThese(others.slice(0, 1), 'kill')
    // What waited in a stalled network arrives late, or never.
    const isLost = random.chance(0.5)
    for (const { line } of cut) {
      if (isLost) line?.drop()
      await line?.pass()
    }
    this.#note('cut', 'over', numbers)
  }

  async #deafenNodes(): Promise<void> {
    const { target, random } = this.#field
    if (!target.database) return
    const count = await endNotifications(target.database, () => random.chance(0.6))
    this.#note('deafness', `${count} connections`)
  }

  async #crashPostgres(): Promise<void> {
    const { target } = this.#field
    this.#note('postgres', '')
    await target.database?.crash()
    this.#note('postgres', 'over')
  }

  async #fill(): Promise<void> {
    const { target, random } = this.#field
    const free = (): void => target.smallDisk?.empty()
    this.#note('full', '')
    try {
      target.smallDisk?.fillUpTo(0)
      await Bun.sleep(this.#while())
      if (random.chance(0.4)) await this.#crash(target.nodes[0].disk ? 'power' : 'kill', free)
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

  #ail(nodes: readonly Node[], ailment: Ailment, share: number): void {
    for (const { wire } of nodes) wire.ail(ailment, () => this.#field.random.chance(share))
  }

  #sendTimes(times: number): void {
    for (const client of this.#field.crowd.clients) client.times = times
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function heal(nodes: readonly Node[]): void {
  for (const { wire } of nodes) wire.heal()
}

function namesOf(nodes: readonly Node[]): string {
  return nodes.map(({ number }) => `node ${number}`).join(', ')
}

const ailments: readonly Ailment[] = [
  'swallow-to-relay',
  'swallow-to-client',
  'swallow-both',
  'hold-to-relay',
]
