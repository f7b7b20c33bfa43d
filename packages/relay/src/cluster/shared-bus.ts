// The bus of a relay that runs in several processes. What happens on one node reaches its own connections by
// function calls, and the other nodes in packets. Packets may get lost: then every node looks into the store.
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import { type RandomBytes, randomText } from '../operations/random.ts'
import { RepeatedWarning } from '../operations/repeated-warning.ts'
import type { Bus, BusState } from './bus.ts'
import { createInProcessBus } from './in-process-bus.ts'
import { type NodeEvent, readEvent, withoutStoredFrames, writeEvent } from './node-events.ts'
import { PacketReader, PacketWriter } from './packets.ts'

/**
 * Carries packets to all nodes, also to the one that sends them. It may lose some, and it may repeat some.
 */
export interface Carrier {
  /** How many bytes of UTF-8 a packet may have. */
  readonly mostBytes: number
  /** Resolves once the packets are under way, in their order. */
  send(packets: readonly string[]): Promise<void>
  stop(): Promise<void>
}

/** What a carrier tells. */
export interface CarrierEvents {
  /** A packet arrives. */
  onPacket(text: string): void
  /** It works after a time in which packets may have been lost. */
  onAgain(): void
  /** It does not work at the moment, or a server refuses something. */
  onFailure(error: unknown): void
}

/** Opens a carrier. */
export type OpenCarrier = (events: CarrierEvents) => Promise<Carrier>

/** A node that has nothing to tell tells that. */
const HEARTBEAT_MS = 1000
/** A node that was not heard for this long is gone, or its packets do not arrive. */
const SILENT_MS = 5000
/** How often the store is asked while the bus does not work. */
const LOOK_WITHOUT_BUS_MS = 2000
/** How often it is asked although the bus works. */
const LOOK_WITH_BUS_MS = 60_000
/** A long queue means that the carrier is stuck. The packets that do not fit are lost. */
const MOST_WAITING_BYTES = 16 * 2 ** 20
/** How many events are sent together. */
const MOST_TOGETHER = 1000

interface Parts {
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly log: Log
}

/** Opens the bus between nodes on a carrier. */
export async function openSharedBus(open: OpenCarrier, parts: Parts): Promise<Bus> {
  const bus = new SharedBus(parts)
  await bus.open(open)
  return bus
}

class SharedBus implements Bus {
  readonly #parts: Parts
  readonly #own = createInProcessBus()
  readonly node: string
  readonly #reader = new PacketReader()
  readonly #failed: RepeatedWarning
  #writer: PacketWriter | undefined
  #carrier: Carrier | undefined
  #waiting: string[] = []
  #waitingBytes = 0
  /** Set while packets are being sent. One sending follows another, so that their order is kept. */
  #sending: Promise<void> | undefined
  #sentAt = 0
  #heardOwnAt: number
  /** How many times in a row {@link #beat} found that this node's own packets do not come back. */
  #silentBeats = 0
  #lookedAt: number
  #isLookDue = false
  readonly #counted = { sent: 0, received: 0, gaps: 0, looks: 0 }
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.node = randomText(parts.randomBytes, 9)
    this.#failed = new RepeatedWarning('bus_failed', parts)
    this.#heardOwnAt = parts.clock.monotonic()
    this.#lookedAt = this.#heardOwnAt
  }

  async open(open: OpenCarrier): Promise<void> {
    this.#carrier = await open({
      onPacket: (text) => this.#received(text),
      onAgain: () => this.#lookSoon(),
      onFailure: (error) => this.#failed.happened({ error }),
    })
    this.#writer = new PacketWriter(this.node, this.#carrier)
    this.#timer = setInterval(() => this.#beat(), HEARTBEAT_MS)
    await this.#send([])
  }

  get isShared(): boolean {
    return this.#reader.nodes.some((node) => node !== this.node)
  }

  hears(node: string): boolean {
    return this.#reader.nodes.includes(node)
  }

  get state(): BusState {
    // A process that stood still finds silence once, because its timer runs before it reads what has arrived.
    return { isHeard: this.#silentBeats < 2, nodes: this.#reader.nodes.length, ...this.#counted }
  }

  ring: Bus['ring'] = (account, ring) => {
    this.#own.ring(account, ring)
    this.#tell({ kind: 'ring', account, ring })
  }

  listen: Bus['listen'] = (listener) => this.#own.listen(listener)

  keysChanged(): void {
    this.#own.keysChanged()
    this.#tell({ kind: 'keys' })
  }

  listenToKeys: Bus['listenToKeys'] = (listener) => this.#own.listenToKeys(listener)

  publish(topic: string, frame: string): void {
    this.#own.publish(topic, frame)
    this.#tell({ kind: 'post', topic, frame })
  }

  listenToTopics: Bus['listenToTopics'] = (listener) => this.#own.listenToTopics(listener)

  listenToLoss: Bus['listenToLoss'] = (listener) => this.#own.listenToLoss(listener)

  // They find a gap at the next packet, which is at most a heartbeat away.
  letOthersLook(): void {
    this.#writer?.skip()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#sending
    await this.#carrier?.stop()
  }

  #tell(event: NodeEvent): void {
    if (!this.isShared || !this.#carrier) {
      // A node that appears just now finds that it missed something, and looks into the store.
      this.#writer?.skip()
      return
    }
    let line = writeEvent(event)
    if (line.length > this.#carrier.mostBytes / 2) {
      const shorter = withoutStoredFrames(event)
      if (shorter) line = writeEvent(shorter)
    }
    this.#waiting.push(line)
    this.#waitingBytes += line.length
    if (this.#waitingBytes > MOST_WAITING_BYTES) this.#loseWaiting()
    this.#sending ??= this.#sendWaiting()
  }

  async #sendWaiting(): Promise<void> {
    // What happens in the same tick of the event loop, such as the rings of one commit, is sent together.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.length > 0) {
      const lines = this.#waiting.splice(0, MOST_TOGETHER)
      for (const line of lines) this.#waitingBytes -= line.length
      await this.#send(lines)
    }
    this.#sending = undefined
  }

  /** Sends events. Without events it sends a heartbeat. Those that fail are lost. */
  async #send(lines: readonly string[]): Promise<void> {
    if (!this.#carrier || !this.#writer) return
    const packets = lines.length === 0 ? [this.#writer.heartbeat()] : this.#writer.pack(lines)
    this.#sentAt = this.#parts.clock.monotonic()
    try {
      await this.#carrier.send(packets)
      this.#counted.sent += packets.length
    } catch (error) {
      this.#failed.happened({ error })
    }
  }

  #loseWaiting(): void {
    this.#waiting = []
    this.#waitingBytes = 0
    this.#writer?.skip()
    this.#failed.happened({ reason: 'too much waits to be sent' })
  }

  #received(text: string): void {
    const now = this.#parts.clock.monotonic()
    const packet = this.#reader.read(text, now)
    if (!packet) return
    if (packet.node === this.node) {
      this.#heardOwnAt = now
      this.#silentBeats = 0
      return
    }
    this.#counted.received += 1
    if (packet.isAfterLoss) {
      this.#counted.gaps += 1
      this.#lookSoon()
    }
    try {
      for (const line of packet.lines) this.#happened(readEvent(line))
    } catch (error) {
      this.#failed.happened({ error })
      this.#lookSoon()
    }
  }

  #happened(event: NodeEvent): void {
    if (event.kind === 'ring') this.#own.ringFromOther(event.account, event.ring)
    else if (event.kind === 'post') this.#own.publish(event.topic, event.frame)
    else if (event.kind === 'keys') this.#own.keysChanged()
    // A newer version of the relay may tell more than this one knows.
  }

  /** Runs every second. */
  #beat(): void {
    const now = this.#parts.clock.monotonic()
    if (now - this.#sentAt >= HEARTBEAT_MS && !this.#sending) this.#sending = this.#sendHeartbeat()
    const isSilent = now - this.#heardOwnAt > SILENT_MS
    this.#silentBeats = isSilent ? this.#silentBeats + 1 : 0
    if (!this.state.isHeard) this.#failed.happened({ reason: 'what this node sends does not come back' })
    // The packets of a node that ended may be lost with it. While nothing is heard, nobody is forgotten.
    if (!isSilent && this.#reader.forgetSilentSince(now - SILENT_MS)) this.#lookSoon()
    if (now - this.#lookedAt >= (isSilent ? LOOK_WITHOUT_BUS_MS : LOOK_WITH_BUS_MS)) this.#lookSoon()
  }

  async #sendHeartbeat(): Promise<void> {
    await this.#send([])
    this.#sending = undefined
    if (this.#waiting.length > 0) this.#sending = this.#sendWaiting()
  }

  /** Tells the listeners once, however many losses are found in this tick of the event loop. */
  #lookSoon(): void {
    if (this.#isLookDue) return
    this.#isLookDue = true
    setImmediate(() => {
      this.#isLookDue = false
      this.#counted.looks += 1
      this.#lookedAt = this.#parts.clock.monotonic()
      this.#own.lost()
    })
  }
}
