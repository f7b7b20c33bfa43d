// What an attack knows, and what it reports. Both are sent between processes.

/** An account of the attacker, logged in. */
export interface Stranger {
  readonly uuid: string
  readonly alias: string
  readonly token: string
}

/** Everything that an attack knows. The same for the relay and for the floor, but for the server. */
export interface Scene {
  readonly url: string
  /** The floor has no accounts, and answers with as many bytes as it is told to. */
  readonly isFloor: boolean
  readonly seconds: number
  /** The data folder of the relay. */
  readonly folder: string
  readonly strangers: readonly Stranger[]
  /** The aliases of the bystanders who receive. */
  readonly bystanders: readonly string[]
  /** What the preparation made: ids of conversations, of channels, of media. */
  readonly things: readonly string[]
  /** How many bytes the floor answers each request with: the mean of the relay's answers. */
  readonly answerBytes: number
}

/** What an attack did. */
export interface Report {
  /** How long it took. */
  readonly ms: number
  /** How many answers had which status; 0 is an answer that did not come. */
  readonly statuses: Readonly<Record<string, number>>
  /** Frames and connections that were sent and opened beside requests. */
  readonly frames: number
  readonly connections: number
  readonly sentBytes: number
  readonly receivedBytes: number
}
