// One run of a simulation: nodes, clients and faults until all people have done what they do. Then every
// fault ends, everything that is due has to arrive, and the run is judged.
import { defaultLimits, type Limits } from '@sotto/protocol'
import { Tokens } from '../../packages/relay/src/accounts/tokens.ts'
import type { HistoryEvent } from '../faults/history.ts'
import { Random } from '../faults/random.ts'
import { SimulatedClient } from './client.ts'
import { Judge } from './judge.ts'
import type { Line } from './line.ts'
import { Network } from './network.ts'
import { SimulatedNode } from './node.ts'
import { BEGINS_AT, type Stage } from './people.ts'
import type { Fault, Plan } from './plan.ts'
import type { Owner, Schedule } from './schedule.ts'
import { nodeStorage, type StoreFate } from './store.ts'
import { Weather } from './weather.ts'

/** A look comes each minute, and a few seconds pass before a loss is known. */
const MOST_QUIET_MS = 90_000
/** How long the second look at the clients takes, after everything has arrived. */
const AFTERWARDS_MS = 2500
/** Refused store requests while it is in trouble, and those whose outcome the node does not learn. */
const REFUSED = 0.3
const UNKNOWN = 0.3

/** A place for a node, which may die and start again. */
interface Place {
  readonly name: string
  owner: Owner
  node: SimulatedNode | undefined
  isInTrouble: boolean
  clockMs: number
  lives: number
}

export class World {
  readonly events: HistoryEvent[] = []
  readonly #plan: Plan
  readonly #stage: Stage
  readonly #schedule: Schedule
  readonly #weather: Weather
  readonly #random: Random
  readonly #network: Network
  readonly #limits: Limits
  readonly #places: Place[] = []
  readonly #clients: SimulatedClient[] = []
  readonly #lines = new Set<Line>()
  readonly #judge: Judge
  #connections = 0
  #isQuiet = false

  constructor(plan: Plan, stage: Stage, schedule: Schedule) {
    this.#plan = plan
    this.#stage = stage
    this.#schedule = schedule
    this.#weather = new Weather(plan.seed)
    this.#random = new Random(plan.seed, 4)
    this.#network = new Network(schedule, this.#weather)
    this.#limits = { ...defaultLimits(), windowBytes: 600, idleSeconds: 16, unlistedSeconds: 0 }
    this.#judge = new Judge(this.events, stage)
  }

  /** Runs it to its end. */
  run(): Judge {
    const { plan, people } = { plan: this.#plan, people: this.#stage.people.slice(0, this.#plan.people) }
    for (const [client, { alias }] of people.entries())
      for (const [other, friend] of people.slice(0, client).entries()) {
        const conv = this.#stage.conversationOf(client, other)
        const members = [
          { client: other, alias: friend.alias },
          { client, alias },
        ] as const
        this.events.push({ type: 'friends', conv, members })
      }
    // What is on its way when a database goes away may be refused, too, and its sender need not learn that.
    const hasTrouble = plan.faults.some(({ kind }) => kind === 'store')
    if (hasTrouble) this.events.push({ type: 'nemesis', what: 'postgres', detail: '' })
    for (let i = 0; i < plan.nodes; i++) this.#addPlace(i)
    for (const number of people.keys()) this.#addClient(number)
    for (const fault of plan.faults) this.#expect(fault)
    this.#schedule.runUntil(plan.activeMs)
    this.#quieten()
    if (hasTrouble) this.events.push({ type: 'nemesis', what: 'postgres', detail: 'over' })
    const quietAt = this.#schedule.now
    this.#runUntilComplete(quietAt)
    this.#judge.quietMs = this.#schedule.now - quietAt
    // Once more: everything is confirmed, so nothing may arrive. What is confirmed now may take its time.
    for (const client of this.#clients) client.disconnect(0)
    this.#runUntilComplete(this.#schedule.now + AFTERWARDS_MS)
    this.#judge.end()
    return this.#judge
  }

  /** Runs until everything has arrived, but not less than until `atLeast`. */
  #runUntilComplete(atLeast: number): void {
    let nextLook = atLeast
    this.#schedule.runUntil(atLeast + MOST_QUIET_MS, () => {
      if (this.#schedule.now < nextLook) return false
      nextLook = this.#schedule.now + 500
      return this.#clients.every(({ isAnswered }) => isAnswered) && this.#judge.isComplete()
    })
  }

  #addPlace(index: number): void {
    const owner = { name: `node ${index}`, isDead: false, asleepUntil: 0 }
    const place = {
      ...{ name: owner.name, owner, node: undefined },
      isInTrouble: false,
      clockMs: 0,
      lives: 0,
    }
    this.#places.push(place)
    this.#start(place, this.#random.between(0, 20))
  }

  #start(place: Place, inMs: number): void {
    place.lives += 1
    const owner = { name: `${place.name}${"'".repeat(place.lives - 1)}`, isDead: false, asleepUntil: 0 }
    place.owner = owner
    const schedule = this.#schedule
    const parts = { owner, schedule, weather: this.#weather, network: this.#network, limits: this.#limits }
    schedule.after(inMs, owner, 'starts', () => {
      const started = SimulatedNode.start({
        ...parts,
        tokenKeys: this.#stage.tokenKeys,
        storage: nodeStorage(this.#stage.database, {
          ...parts,
          node: owner,
          fate: () => this.#fateOf(place),
        }),
        clock: { now: () => this.#wallClock(place.clockMs), monotonic: () => schedule.now },
        onError: (event, { error }) => this.#judge.errorLogged(`${owner.name}: ${event} ${String(error)}`),
      })
      void started.then((node) => {
        place.node = node
      })
    })
  }

  #wallClock(aheadMs: number): number {
    return Math.floor(BEGINS_AT + this.#schedule.now + aheadMs)
  }

  #fateOf(place: Place): StoreFate {
    if (!place.isInTrouble) return 'done'
    const luck = this.#random.next()
    if (luck < REFUSED) return 'refused'
    return luck < REFUSED + UNKNOWN ? 'unknown' : 'done'
  }

  #addClient(number: number): void {
    const { people, database, tokenKeys } = this.#stage
    const person = people[number]
    if (!person) throw new Error('no such person')
    const others = [...people.entries()].slice(0, this.#plan.people).filter(([other]) => other !== number)
    const random = new Random(this.#plan.seed, 5, number)
    const clock = { now: () => this.#wallClock(0), monotonic: () => this.#schedule.now }
    const randomBytes = (length: number): Uint8Array =>
      Uint8Array.from({ length }, () => random.whole(0, 255))
    const { storage } = database
    const tokens = new Tokens({ storage, clock, randomBytes, keys: tokenKeys, lifeSeconds: 86_400 })
    const client = new SimulatedClient({
      ...{ number, random, schedule: this.#schedule, weather: this.#weather, events: this.events },
      friends: others.map(([other, { alias }]) => ({
        to: alias,
        conv_id: this.#stage.conversationOf(number, other),
      })),
      findNode: () => {
        const up = this.#places.flatMap(({ node, owner }) => (node && !owner.isDead ? [node] : []))
        return up.length === 0 ? undefined : random.pick(up)
      },
      issueToken: () => tokens.issue({ uuid: person.uuid, logged_out_at: 0 }).token,
      nextConnection: () => {
        this.#connections += 1
        return this.#connections
      },
      opened: (line) => this.#lines.add(line),
    })
    this.#clients.push(client)
    for (let i = 0; i < this.#plan.actions; i++) {
      const at = random.between(0, this.#plan.activeMs)
      this.#schedule.after(at, client.owner, 'acts', () => {
        if (!this.#isQuiet) client.act()
      })
    }
  }

  #expect(fault: Fault): void {
    const nemesis = { name: 'fault', isDead: false, asleepUntil: 0 }
    this.#schedule.after(fault.atMs, nemesis, `${fault.number}: ${fault.kind}`, () => {
      if (!this.#isQuiet) this.#strike(fault, nemesis)
    })
  }

  #strike({ kind, lastsMs, whom }: Fault, nemesis: Owner): void {
    const { now } = this.#schedule
    const place = this.#places[whom % this.#places.length]
    const client = this.#clients[whom % this.#clients.length]
    if (!place || !client) return
    const later = (run: () => void): void => {
      this.#schedule.after(lastsMs, nemesis, `${kind} is over`, run)
    }
    if (kind === 'sleep') sleep(place.owner, now + lastsMs)
    else if (kind === 'kill') this.#kill(place, lastsMs)
    else if (kind === 'cut-off') {
      const { owner } = place
      this.#network.cutOff(owner)
      later(() => this.#network.heal(owner, this.#random.chance(0.5)))
    } else if (kind === 'store') {
      this.#trouble(place, true)
      later(() => this.#trouble(place, false))
    } else if (kind === 'clock') place.clockMs += this.#random.pick([-3_600_000, -5000, 5000, 3_600_000])
    else if (kind === 'line') client.cut(this.#random.chance(0.5))
    else if (kind === 'takeover') client.takeOver()
    else sleep(client.owner, now + lastsMs)
  }

  #kill(place: Place, backMs: number): void {
    const { node } = place
    place.owner.isDead = true
    place.node = undefined
    for (const line of this.#lines) {
      if (line.node !== node) continue
      line.cut(false)
      this.#lines.delete(line)
    }
    this.#start(place, backMs)
  }

  #trouble(place: Place, isInTrouble: boolean): void {
    if (place.isInTrouble === isInTrouble) return
    place.isInTrouble = isInTrouble
    if (isInTrouble) this.#judge.mayFail = true
  }

  #quieten(): void {
    this.#isQuiet = true
    for (const place of this.#places) {
      place.owner.asleepUntil = 0
      this.#network.heal(place.owner, this.#random.chance(0.5))
      this.#trouble(place, false)
    }
    this.#schedule.wake()
    for (const client of this.#clients) {
      client.owner.asleepUntil = 0
      client.quieten()
    }
  }
}

function sleep(owner: Owner, until: number): void {
  owner.asleepUntil = Math.max(owner.asleepUntil, until)
}
