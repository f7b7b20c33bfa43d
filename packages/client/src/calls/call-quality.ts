// How good the connection of a call is, from the browser's statistics.

/** The quality of a call's connection. Values that the browser does not know yet are left out. */
export interface CallQuality {
  /**
   * `poor` from 10% of lost packets or a round trip of 500 ms, `fair` from 3% or 250 ms, else `good`. People
   * notice these as gaps and as talking at the same time.
   */
  readonly level: 'good' | 'fair' | 'poor'
  /** The share of packets that were lost since the measurement before, in the worse direction: 0 to 1. */
  readonly loss?: number
  /** How long a packet takes to the other side and back, in milliseconds. */
  readonly roundTripMs?: number
  /** Whether a TURN server carries the media. */
  readonly isRelayed?: boolean
  /** The codecs of what this side receives: `audio/opus`, `video/VP9`. */
  readonly codecs: readonly string[]
}

const LOSSES = { fair: 0.03, poor: 0.1 }
const ROUND_TRIPS_MS = { fair: 250, poor: 500 }

/** One entry of the statistics, with the names that browsers give its fields. */
type Stat = Readonly<Record<string, unknown>>

/** Statistics by their ids: an `RTCStatsReport` is one. */
export interface CallStats {
  /** Passes each of them. */
  forEach(look: (stat: Stat) => void): void
}

/**
 * Says how good the connection of a call is: `meter.measure(await calls.stats())`, every few seconds. Make
 * one for each call.
 */
export class QualityMeter {
  #received = 0
  #lost = 0

  /** The quality since the statistics before. @param stats as `Calls.stats` returns them */
  measure(stats: CallStats): CallQuality {
    const all = new Map<unknown, Stat>()
    stats.forEach((stat) => {
      all.set(stat.id, stat)
    })
    const of = (type: string): Stat[] => [...all.values()].filter((stat) => stat.type === type)
    const inbound = of('inbound-rtp')
    const losses = [
      this.#lossOf(inbound),
      ...of('remote-inbound-rtp').map(({ fractionLost }) => numberIn(fractionLost)),
    ].filter((loss) => loss !== undefined)
    const loss = losses.length === 0 ? undefined : Math.max(...losses)
    const pair = of('candidate-pair').find(({ nominated, state }) => nominated && state === 'succeeded')
    const seconds = numberIn(pair?.currentRoundTripTime)
    const roundTripMs = seconds === undefined ? undefined : Math.round(seconds * 1000)
    const ends = [pair?.localCandidateId, pair?.remoteCandidateId].map((id) => all.get(id)?.candidateType)
    const codecs = inbound
      .filter(({ packetsReceived }) => (numberIn(packetsReceived) ?? 0) > 0)
      .flatMap(({ codecId }) => all.get(codecId)?.mimeType ?? [])
    return {
      level: levelOf(loss ?? 0, roundTripMs ?? 0),
      ...(loss === undefined ? {} : { loss }),
      ...(roundTripMs === undefined ? {} : { roundTripMs }),
      ...(pair === undefined ? {} : { isRelayed: ends.includes('relay') }),
      codecs: [...new Set(codecs.map(String))].sort(),
    }
  }

  /** The share that was lost on the way to this side; undefined if nothing was sent since the last time. */
  #lossOf(inbound: readonly Stat[]): number | undefined {
    const sum = (name: string): number => inbound.reduce((all, stat) => all + (numberIn(stat[name]) ?? 0), 0)
    const [received, lost] = [sum('packetsReceived'), sum('packetsLost')]
    const newlyLost = Math.max(0, lost - this.#lost)
    const sent = Math.max(0, received - this.#received) + newlyLost
    this.#received = received
    this.#lost = lost
    return sent === 0 ? undefined : newlyLost / sent
  }
}

function levelOf(loss: number, roundTripMs: number): CallQuality['level'] {
  if (loss >= LOSSES.poor || roundTripMs >= ROUND_TRIPS_MS.poor) return 'poor'
  return loss >= LOSSES.fair || roundTripMs >= ROUND_TRIPS_MS.fair ? 'fair' : 'good'
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
