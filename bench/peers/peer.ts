// The interface of a peer, a server to compare with: starting, stopping, and lanes for the same exchange on
// every server.

/** Receives the events of a lane's messages. Each message has the number that it was sent with. */
export interface LaneListener {
  /** The server answered the sender. */
  acked(number: number): void
  /** The recipient has the message. */
  arrived(number: number): void
}

/** One sender and one recipient, each with a separate connection. */
export interface Lane {
  listener: LaneListener
  /** Sends a message; numbers count from 1. */
  send(number: number): void
  close(): void
}

/** A running peer. */
export interface RunningPeer {
  /** The process whose CPU time is measured, together with its children. */
  readonly pid: number
  openLanes(count: number, payloadBytes: number): Promise<Lane[]>
  stop(): Promise<void>
}

/** A server to compare with, in one configuration. */
export interface Peer {
  readonly name: string
  /** Where a message is when the server acknowledges it: on disk or only in memory. */
  readonly promise: string
  /** The steps of the whole exchange that this server does not do. */
  readonly missing: string
  /** The Debian packages to install. */
  readonly packages: readonly string[]
  start(): Promise<RunningPeer>
}

/** Ignores all events. A lane has this listener until the driver sets another. */
export const NO_LISTENER: LaneListener = { acked: () => undefined, arrived: () => undefined }

/** Digits that carry a message's number. */
export const NUMBER_DIGITS = 9

/** The payload of every message: Base64, because Sotto's payloads and XML must be printable. */
export function payloadOf(bytes: number): string {
  return Buffer.alloc(Math.floor((bytes * 3) / 4), 7).toString('base64')
}

/** Reads the decimal number that begins at `at`. */
export function digitsAt(bytes: Buffer, at: number): number {
  let value = 0
  for (let index = at; ; index++) {
    const digit = (bytes[index] ?? 0) - 48
    if (digit < 0 || digit > 9) return value
    value = value * 10 + digit
  }
}
