// How long each thing takes in a simulation, and what goes wrong by itself. Each seed has its own weather, so
// that in some the store is slow, in others the bus, and in most nothing.
import { Random } from '../faults/random.ts'

/** What takes time. */
type Wait = 'store' | 'answer' | 'packet' | 'frame' | 'client'

/** Typical milliseconds, from which a seed picks for each kind. */
const TYPICAL_MS = [0.01, 0.3, 0.3, 3, 3, 30, 300]
const SPIKES = 0.02
const SPIKE_TIMES = 30
/** Longer than this nothing takes by itself, so that what must arrive within a time can. */
const MOST_MS = 12_000
const LOSSES = [0, 0, 0, 0.02, 0.2]

export class Weather {
  readonly #random: Random
  readonly #typicalMs: Readonly<Record<Wait, number>>
  readonly #loss: number
  readonly #repeats: number
  readonly #keepsOrder: boolean

  constructor(seed: number) {
    const random = new Random(seed, 3)
    this.#random = random
    const pick = (): number => random.pick(TYPICAL_MS)
    this.#typicalMs = { store: pick(), answer: pick(), packet: pick(), frame: pick(), client: 3 }
    this.#loss = random.pick(LOSSES)
    this.#repeats = random.pick(LOSSES)
    this.#keepsOrder = random.chance(0.7)
  }

  /** How long something takes this time. */
  waitMs(kind: Wait): number {
    const spike = this.#random.chance(SPIKES) ? SPIKE_TIMES : 1
    return Math.min(MOST_MS, -Math.log(1 - this.#random.next()) * this.#typicalMs[kind] * spike)
  }

  /** How often a packet of the bus arrives: once, or it is lost or doubled. */
  arrivals(): number {
    if (this.#random.chance(this.#loss)) return 0
    return this.#random.chance(this.#repeats) ? 2 : 1
  }

  /** Whether the packets of one node to another keep their order. */
  get keepsOrder(): boolean {
    return this.#keepsOrder
  }

  chance(share: number): boolean {
    return this.#random.chance(share)
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.#random.whole(0, 255))
  }
}
