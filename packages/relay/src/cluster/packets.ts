// Packets: how the events of one node travel to the others over anything that carries short texts and may
// lose, double or delay them. Each packet has the node's name and a number that grows by one, so that a node
// that gets them knows what it did not get.

/** Packs events into texts of at most `mostBytes` bytes of UTF-8. */
export class PacketWriter {
  readonly #node: string
  readonly #mostBytes: number
  #number = 0

  constructor(node: string, { mostBytes }: { mostBytes: number }) {
    this.#node = node
    this.#mostBytes = mostBytes
  }

  /** A packet without events. It tells the others the last number, and that this node works. */
  heartbeat(): string {
    return this.#packet('events', '')
  }

  /** Counts a packet that is never sent, so that the others learn that they miss something. */
  skip(): void {
    this.#number += 1
  }

  /** Packs events, one line each, into as few packets as their order allows. */
  pack(lines: readonly string[]): string[] {
    const packets: string[] = []
    let waiting: string[] = []
    let waitingBytes = 0
    const flush = (): void => {
      if (waiting.length > 0) packets.push(this.#packet('events', waiting.join('\n')))
      waiting = []
      waitingBytes = 0
    }
    for (const line of lines) {
      const bytes = Buffer.byteLength(line) + 1
      if (waitingBytes + bytes > this.#room) flush()
      if (bytes > this.#room) packets.push(...this.#inParts(line))
      else {
        waiting.push(line)
        waitingBytes += bytes
      }
    }
    flush()
    return packets
  }

  /** How many bytes of events fit into a packet, whatever its number is. */
  get #room(): number {
    return this.#mostBytes - this.#node.length - 32
  }

  // Characters have at most three bytes for each unit of the text. A pair of units is never cut in two,
  // because half of a character cannot be sent.
  #inParts(line: string): string[] {
    const most = Math.floor(this.#room / 3)
    const packets: string[] = []
    for (let start = 0; start < line.length; ) {
      let end = Math.min(line.length, start + most)
      if (end < line.length && isLowSurrogate(line.charCodeAt(end))) end -= 1
      packets.push(this.#packet(end === line.length ? 'last' : 'part', line.slice(start, end)))
      start = end
    }
    return packets
  }

  #packet(kind: PacketKind, body: string): string {
    this.#number += 1
    return `${this.#node} ${this.#number} ${kind}\n${body}`
  }
}

/** Whole events; a part of one that is too long for a packet; or the last such part. */
type PacketKind = 'events' | 'part' | 'last'

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** What a packet said. */
export interface ReceivedPacket {
  readonly node: string
  /** The events that are complete with this packet, one line each. */
  readonly lines: readonly string[]
  /** Whether packets of this node before this one are missing. */
  readonly isAfterLoss: boolean
}

interface Sender {
  last: number
  heardAt: number
  /** The parts of a long event so far; undefined if the beginning is missing. */
  parts: string[] | undefined
}

/** Reads the packets of all nodes, and finds which did not come. */
export class PacketReader {
  readonly #senders = new Map<string, Sender>()

  /** Reads a packet. @returns undefined for one that came before, or that is none */
  read(text: string, now: number): ReceivedPacket | undefined {
    const found = /^(\S+) (\d+) (events|part|last)\n/.exec(text)
    if (!found) return undefined
    const [head, node = '', digits, kind] = found
    const number = Number(digits)
    const body = text.slice(head.length)
    const known = this.#senders.get(node)
    if (known && number <= known.last) return undefined
    const isAfterLoss = number !== (known?.last ?? 0) + 1
    const sender: Sender = known ?? { last: 0, heardAt: now, parts: [] }
    this.#senders.set(node, sender)
    sender.last = number
    sender.heardAt = now
    if (isAfterLoss) sender.parts = kind === 'events' ? [] : undefined
    if (kind === 'events') return { node, isAfterLoss, lines: body === '' ? [] : body.split('\n') }
    sender.parts?.push(body)
    if (kind === 'part') return { node, isAfterLoss, lines: [] }
    const line = sender.parts?.join('')
    sender.parts = []
    return { node, isAfterLoss, lines: line === undefined ? [] : [line] }
  }

  /** Forgets the nodes that were not heard since a time. @returns whether there were any */
  forgetSilentSince(time: number): boolean {
    let isAny = false
    for (const [node, { heardAt }] of this.#senders) {
      if (heardAt >= time) continue
      this.#senders.delete(node)
      isAny = true
    }
    return isAny
  }

  /** The nodes that were heard and not forgotten. */
  get nodes(): readonly string[] {
    return [...this.#senders.keys()]
  }
}
