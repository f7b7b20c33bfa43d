// Injects faults into the relays and their clients, one after another, in an order that the seed decides.
import { operatorCommands } from '@sotto/relay'
import type { TcpProxy } from '../../packages/relay/test/tcp-proxy.ts'
import { busFailures, deafen } from './bus.ts'
import type { Crowd } from './crowd.ts'
import { untilTransactionsEnd } from './database.ts'
import { type Deed, possibleDeeds } from './deeds.ts'
import { type Ailment, ailments } from './faulty-wire.ts'
import type { History } from './history.ts'
import { breakdownOf } from './lines.ts'
import { heal, isAlive, type Node, namesOf } from './node.ts'
import type { Random } from './random.ts'
import type { Target } from './target.ts'
import { DAY_MS, HOUR_MS, noteOld, ROUND_MS, untilExpired } from './time.ts'

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
        return await this.#cut(deed, ({ line }) => line)
      case 'unheard':
        return await this.#cut(deed, ({ busLine }) => busLine)
      case 'bus':
        return await this.#failBus()
      case 'upgrade':
        return await this.#upgrade()
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

  async #start(node: Node, start = () => node.relay.start()): Promise<void> {
    node.startedOffByMs = node.disk?.clockIsOffByMs ?? 0
    try {
      await start()
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
    if (Math.abs(hours) < 1) noteOld(this.#field)
    disk?.letPass(ROUND_MS)
  }

  /**
   * A day passes while some clients are offline. Their unfetched messages expire, and the senders are told.
   */
  async #age(): Promise<void> {
    const { target, crowd, random } = this.#field
    await this.#trustClocks()
    await Bun.sleep(300)
    const away = crowd.clients.filter(() => random.chance(0.4))
    for (const client of away) client.disconnect(random.between(600, 1500) + this.#while() / 2)
    await Bun.sleep(random.between(100, 300))
    noteOld(this.#field, DAY_MS)
    this.#note('age', '')
    for (const { disk } of target.nodes) disk?.letPass(DAY_MS)
    if (target.database) {
      // The turns of all nodes are over, so clients stay away until a node has the next one and has swept.
      for (const client of away) client.stayAway()
      if (!(await untilExpired(target))) throw new RelayDead('old messages did not expire')
      for (const client of away) client.overtake()
    }
    await Bun.sleep(300)
    this.#note('age', 'over')
  }

  /** The operator resumes expiry if an earlier jump of a clock has stopped it. */
  async #trustClocks(): Promise<void> {
    const { target } = this.#field
    const resume = (): Promise<unknown> => operatorCommands['resume-expiry'](target.env)
    if (target.database) {
      // A clean stop gives the leases back. Beside running relays, one that has not noticed the jump yet
      // would stop expiry again.
      await this.#restart(target.nodes, resume)
      return
    }
    // Beside a running relay, this command would bypass the simulated disk.
    await this.#crashThese(target.nodes, 'kill', async () => {
      for (const { disk } of target.nodes) disk?.settle()
      await resume()
    })
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

  /** Restarts nodes one after the other, or all at once with something to do in between. */
  async #restart(
    nodes: readonly Node[] = [this.#field.random.pick(this.#field.target.nodes)],
    between?: () => Promise<unknown>,
  ): Promise<void> {
    this.#note('restart', namesOf(nodes))
    if (between) {
      await Promise.all(nodes.map((node) => this.#end(node)))
      await between()
      await Promise.all(nodes.map((node) => this.#start(node)))
    } else {
      for (const node of nodes) {
        await this.#end(node)
        await this.#start(node)
      }
    }
    this.#note('restart', 'over')
  }

  async #end({ relay }: Node): Promise<void> {
    const code = await relay.kill('SIGTERM')
    if (code !== 0) throw new RelayDead(`SIGTERM ended it with ${code}: ${relay.errors().slice(-500)}`)
  }

  /** Replaces some nodes or all, one after the other, by the build that each one is not. */
  async #upgrade(): Promise<void> {
    const { target, random } = this.#field
    const nodes = random.shuffle(target.nodes).slice(0, random.whole(1, target.nodes.length))
    this.#note('upgrade', namesOf(nodes))
    for (const node of nodes) {
      await this.#end(node)
      await this.#start(node, node.exchange)
      if (random.chance(0.5)) await Bun.sleep(this.#while())
    }
    this.#note('upgrade', 'over')
  }

  /** Nodes lose their way to a server, and sometimes another node is killed meanwhile. */
  async #cut(deed: 'cut' | 'unheard', lineOf: (node: Node) => TcpProxy | undefined): Promise<void> {
    const { target, random } = this.#field
    const shuffled = random.shuffle(target.nodes)
    const count = random.pick([1, 1, 1, 2, shuffled.length])
    const [cut, others] = [shuffled.slice(0, count), shuffled.slice(count)]
    const breakdown = breakdownOf(
      cut.flatMap((node) => lineOf(node) ?? []),
      random,
    )
    const numbers = cut.map(({ number }) => number)
    this.#note(deed, `${breakdown.how}, ${namesOf(cut)}`, numbers)
    await breakdown.begin()
    await Bun.sleep(this.#while())
    if (others.length > 0 && random.chance(0.3)) await this.#crashThese(others.slice(0, 1), 'kill')
    await breakdown.end()
    this.#note(deed, 'over', numbers)
  }

  /** No relay may fail because of it. */
  async #failBus(): Promise<void> {
    const { target, random } = this.#field
    const how = random.pick(busFailures)
    this.#note('bus', how, [])
    await target.bus?.fail(how, this.#while())
    this.#note('bus', 'over', [])
  }

  async #deafenNodes(): Promise<void> {
    const { target, random } = this.#field
    const count = await deafen(target, () => random.chance(0.6))
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
