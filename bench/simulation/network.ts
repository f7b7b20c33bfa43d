// What carries packets between the nodes of a simulation, in place of NOTIFY or NATS. It loses, doubles and
// delays them, and nodes are cut off from it.
import type { Carrier, OpenCarrier } from '../../packages/relay/src/cluster/shared-bus.ts'
import type { Owner, Schedule } from './schedule.ts'
import type { Weather } from './weather.ts'

const MOST_BYTES = 2000

interface Ear {
  readonly node: Owner
  readonly onPacket: (text: string) => void
  readonly onAgain: () => void
  readonly arrivesAt: Map<Owner, number>
}

export class Network {
  readonly #schedule: Schedule
  readonly #weather: Weather
  readonly #ears = new Set<Ear>()
  /** The nodes whose packets are neither sent nor received. */
  readonly #cutOff = new Set<Owner>()

  constructor(schedule: Schedule, weather: Weather) {
    this.#schedule = schedule
    this.#weather = weather
  }

  carrierOf(node: Owner): OpenCarrier {
    return async ({ onPacket, onAgain }): Promise<Carrier> => {
      const ear = { node, onPacket, onAgain, arrivesAt: new Map() }
      this.#ears.add(ear)
      return {
        mostBytes: MOST_BYTES,
        send: (packets) => this.#send(node, packets),
        stop: async () => {
          this.#ears.delete(ear)
        },
      }
    }
  }

  cutOff(node: Owner): void {
    this.#cutOff.add(node)
  }

  /** @param isTold whether the carrier notices that it works again, as a database's connection does */
  heal(node: Owner, isTold: boolean): void {
    if (!this.#cutOff.delete(node) || !isTold) return
    for (const ear of this.#ears)
      if (ear.node === node) this.#schedule.after(0, node, 'the bus works again', ear.onAgain)
  }

  #send(from: Owner, packets: readonly string[]): Promise<void> {
    const isCutOff = this.#cutOff.has(from)
    for (const packet of isCutOff ? [] : packets) for (const ear of this.#ears) this.#carry(from, ear, packet)
    return new Promise((resolve, reject) => {
      this.#schedule.after(this.#weather.waitMs('packet'), from, 'packets are under way', () => {
        if (isCutOff) reject(new Error('the bus is away'))
        else resolve()
      })
    })
  }

  #carry(from: Owner, ear: Ear, packet: string): void {
    if (ear.node.isDead) this.#ears.delete(ear)
    if (ear.node.isDead || this.#cutOff.has(ear.node)) return
    for (let left = this.#weather.arrivals(); left > 0; left--) {
      const { now } = this.#schedule
      const earliest = this.#weather.keepsOrder ? (ear.arrivesAt.get(from) ?? 0) : 0
      const at = Math.max(earliest + 0.0001, now + this.#weather.waitMs('packet'))
      ear.arrivesAt.set(from, at)
      this.#schedule.after(at - now, ear.node, `packet ${packet.split('\n', 1)[0]}`, () => {
        if (!this.#cutOff.has(ear.node)) ear.onPacket(packet)
      })
    }
  }
}
