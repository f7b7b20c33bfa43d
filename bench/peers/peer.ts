// What a peer is: a server that can be started and stopped, and lanes over which the same exchange runs on it.

/** Hears what became of the messages of a lane, by the number each was sent under. */
export interface LaneListener {
  /** The server answered the sender. */
  acked(number: number): void
  /** The message is at the recipient. */
  arrived(number: number): void
}

/** One sender and one recipient, each with a connection of its own. */
export interface Lane {
  listener: LaneListener
  /** Sends a message; numbers count from 1. */
  send(number: number): void
  close(): void
}

/** A peer that runs. */
export interface RunningPeer {
  /** The process whose CPU time counts, its children with it. */
  readonly pid: number
  openLanes(count: number, payloadBytes: number): Promise<Lane[]>
  stop(): Promise<void>
}

/** A server to compare with, in one configuration. */
export interface Peer {
  readonly name: string
  /** What its acknowledgement promises: on disk before it, or not. */
  readonly promise: string
  /** What of the whole exchange it does not do. */
  readonly missing: string
  /** Debian packages it comes from. */
  readonly packages: readonly string[]
  start(): Promise<RunningPeer>
}

/** A lane's listener until the driver sets its own. */
export const DEAF: LaneListener = { acked: () => undefined, arrived: () => undefined }

/** Digits that carry a message's number. */
export const NUMBER_DIGITS = 9

/** What every message carries beside its number: printable, as Sotto's payloads and XML need it. */
export function payloadOf(bytes: number): string {
  return Buffer.alloc(Math.floor((bytes * 3) / 4), 7).toString('base64')
}

/** Reads decimal digits from `at` on. */
export function digitsAt(bytes: Buffer, at: number): number {
  let value = 0
  for (let index = at; ; index++) {
    const digit = (bytes[index] ?? 0) - 48
    if (digit < 0 || digit > 9) return value
    value = value * 10 + digit
  }
}
