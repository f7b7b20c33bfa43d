// A device in the model: the real course of a conversation, on a store that is written at once or not at
// all, with crashes between a write and what follows it.
import { CryptoError, encodeBase64 } from '@sotto/crypto'
import {
  type Course,
  type CourseEvent,
  decodeBlock,
  decodeInBlocks,
  encodeBlock,
  encodeInBlocks,
  type Keep,
  type Notice,
  newCourse,
  type SentBlock,
  type Sides,
  type Step,
  type Surroundings,
  step,
} from '../../src/secrecy/version-3/version-3.ts'
import { type AccountName, type Downward, type Line, other } from './simulated-relay.ts'
import { type OutboxEntry, REPEATS, rootOf, type Store, withKept } from './store.ts'
import { failing, type Surrounding, sidesOf } from './surrounding.ts'

/** The device stopped between two writes. */
export class Crash extends Error {}

/** Where the next step of a device ends. */
export type CrashPoint = 'before the write' | 'after the write' | 'after sending'

/** What comes of no step. */
const NOTHING = { outcome: 'later', keep: [], asks: [], notices: [], handshake: undefined } as const

const decoder = new TextDecoder()
const encoder = new TextEncoder()

export class Device {
  readonly name: string
  readonly #around: Surrounding
  store: Store
  #course: Course
  #blocks: readonly SentBlock[] = []
  #line: Line | undefined
  #isSynced = false
  #last: CourseEvent | undefined
  /** The `seq` of the frame that was left for the next `sync`. */
  #heldFrom: number | undefined
  readonly #inFlight = new Set<string>()
  #sides: Promise<Sides>
  /** Where the next write crashes. */
  crashAt: CrashPoint | undefined
  /** After how many looks at its surroundings the next step finds no cryptography. */
  failsAfter: number | undefined
  /** Whether another device may have been connected before the next `sync_end`. */
  isDoubtful = false
  readonly notices: Notice[] = []
  /** Every ciphertext that it made, whatever became of it. */
  readonly made: Uint8Array[] = []

  constructor(name: string, store: Store, around: Surrounding) {
    this.name = name
    this.#around = around
    this.store = store
    this.#course = newCourse()
    this.#sides = sidesOf(this.#around, this.store)
    this.#load()
  }

  get account(): AccountName {
    return this.#around.own.name
  }

  get course(): Course {
    return this.#course
  }

  get line(): Line | undefined {
    return this.#line?.isOpen ? this.#line : undefined
  }

  /** Whether everything that it wrote has been accepted, and nothing is under way. */
  get isQuiet(): boolean {
    const line = this.line
    return (
      line !== undefined &&
      this.#isSynced &&
      !line.isBusy &&
      this.store.sealed.length + this.store.waiting.length === 0
    )
  }

  /** Starts again with what is stored, or with an earlier or new store. */
  restart(store = this.store, lost = 0): void {
    this.store = store
    if (this.#line?.isOpen) this.#around.relay.cut(this.account)
    this.#line = undefined
    this.#sides = sidesOf(this.#around, this.store)
    this.#load(lost)
  }

  /**
   * Starts again, and cannot read one of its blocks of own messages.
   * @returns the messages that it does not send again any more
   */
  restartWithoutBlock(which: number): readonly string[] {
    const blocks = new Map(this.store.blocks)
    const lost = [...blocks][which % Math.max(blocks.size, 1)]
    if (lost) blocks.delete(lost[0])
    this.restart({ ...this.store, blocks }, lost ? 1 : 0)
    return lost ? decodeBlock(lost[1]).map(({ id }) => rootOf(id)) : []
  }

  async connect(): Promise<void> {
    await this.#noticeDown()
    this.#line = this.#around.relay.connect(this.account)
    this.#line.up.push({ type: 'sync' })
  }

  /** Notices that its connection is gone. */
  async #noticeDown(): Promise<void> {
    this.#line = undefined
    this.#isSynced = false
    this.#heldFrom = undefined
    this.#inFlight.clear()
    await this.give({ type: 'down' })
  }

  /** The user writes. */
  write(id: string, body: string, deletes?: string): void {
    const entry = {
      ...{ id, order: this.store.orders, body: encoder.encode(body), isHidden: false },
      ...(deletes === undefined ? {} : { deletes }),
    }
    this.store = {
      ...this.store,
      orders: this.store.orders + 1,
      history: new Map(this.store.history).set(id, { from: this.account, body, isUnreadable: false }),
      waiting: [...this.store.waiting, entry],
    }
  }

  /** Handles the next frame of its connection. */
  async handle(): Promise<void> {
    const frame = this.line?.down.shift()
    if (frame) await this.#handleFrame(frame)
  }

  async #handleFrame(frame: Downward): Promise<void> {
    switch (frame.type) {
      case 'msg': {
        const { type: _, ...waiting } = frame
        if (this.#heldFrom !== undefined && frame.seq > this.#heldFrom) return
        this.#heldFrom = undefined
        const isKnown = this.store.received.has(frame.id)
        const { outcome } = await this.give({ type: 'frame', ...waiting, isKnown })
        if (outcome === 'later') this.#heldFrom = frame.seq
        else this.line?.up.push({ type: 'delivered', seq: frame.seq })
        return
      }
      case 'ack': {
        this.#inFlight.delete(frame.id)
        const deletes = this.store.sealed.find(({ id }) => id === frame.id)?.deletes
        await this.give({ type: 'accepted', id: frame.id, seq: frame.seq }, this.#without(frame.id))
        if (deletes !== undefined) this.line?.up.push({ type: 'retract', id: deletes })
        return this.pump()
      }
      case 'refused':
        this.#inFlight.delete(frame.id)
        await this.give({ type: 'failed', id: frame.id }, this.#without(frame.id))
        return this.pump()
      case 'unanswered':
        await this.give({ type: 'unanswered' })
        return this.pump()
      case 'stale':
        this.#inFlight.delete(frame.id)
        await this.give({ type: 'stale', id: frame.id, epoch: frame.epoch })
        return this.pump()
      case 'out_of_order':
        this.#inFlight.delete(frame.id)
        return this.pump()
      case 'sync_end':
        this.#heldFrom = undefined
        this.#isSynced = true
        await this.give({
          ...{ type: 'synced', incarnation: frame.incarnation },
          ...(this.isDoubtful ? { isDoubtful: true } : {}),
        })
        this.isDoubtful = false
        return this.pump()
      case 'group': {
        await this.give(frame)
        return this.pump()
      }
      case 'key_packages':
        await this.give({ type: 'key_packages', packages: frame.packages })
        return this.pump()
      default:
        return frame satisfies never
    }
  }

  /** Sends what can be sent: the ciphertexts in their order, and before that encrypts what waits. */
  async pump(): Promise<void> {
    for (let isLeft = true; isLeft; ) {
      this.#sendSealed()
      const [next] = this.store.waiting
      isLeft = false
      if (!next || !this.#isSynced || !this.line) return
      const { id, body, resends, deletes } = next
      const { outcome } = await this.give({
        ...{ type: 'send', id, body },
        ...(resends === undefined ? {} : { resends }),
        ...(deletes === undefined ? {} : { deletes }),
      })
      isLeft = outcome === 'handled'
    }
  }

  #sendSealed(): void {
    const line = this.line
    if (!line || !this.#isSynced) return
    let before: string | undefined
    for (const { id, epoch, payload } of this.store.sealed) {
      if (!this.#inFlight.has(id) && epoch !== undefined && payload) {
        line.up.push({ type: 'msg', id, epoch, payload, ...(before === undefined ? {} : { after: before }) })
        this.#inFlight.add(id)
      }
      before = id
    }
  }

  /** Gives an event to the course, and does what it says. */
  async give(event: CourseEvent, changes: Partial<Store> = {}): Promise<Step> {
    const { watch, blockSizes } = this.#around
    const [before, blocks] = [this.#course, this.#blocks]
    const result = await this.#step(event)
    this.#last = event
    const crashAt = this.crashAt
    this.crashAt = undefined
    if (crashAt === 'before the write') throw new Crash()
    this.#course = result.course
    const stored = encodeInBlocks(result.course, blocks, blockSizes)
    this.#blocks = stored.blocks
    this.store = { ...this.store, ...changes, course: stored.state, blocks: this.#bytesOf(stored.blocks) }
    for (const each of result.keep) this.#keep(each)
    await watch.onStep(this, before, event, result)
    watch.count({
      ...{ before, event, after: result.course, step: result },
      blocks: { before: blocks, after: stored.blocks },
    })
    if (crashAt === 'after the write') throw new Crash()
    this.notices.push(...result.notices)
    this.#act(result)
    if (crashAt === 'after sending') throw new Crash()
    return result
  }

  /** Carries out an event. If there was no cryptography, it is given again. */
  async #step(event: CourseEvent): Promise<Step> {
    const { watch } = this.#around
    const { failsAfter } = this
    this.failsAfter = undefined
    const before = this.#course
    const around = await this.surroundings()
    if (failsAfter === undefined) return step(before, event, around)
    try {
      return await step(before, event, failing(around, failsAfter))
    } catch (error) {
      if (!(error instanceof CryptoError) || error.code !== 'UNAVAILABLE') throw error
      const blocks = { before: this.#blocks, after: this.#blocks }
      watch.count({ before, event: { type: 'unavailable' }, after: before, step: NOTHING, blocks })
      return step(before, event, around)
    }
  }

  /** What its steps may use. */
  async surroundings(): Promise<Surroundings> {
    const { random, now } = this.#around
    return {
      ...{ sides: await this.#sides, now: now(), random },
      newId: () => `${this.name}-${encodeBase64(random(9))}`,
      findKeyPackage: async (reference) => this.store.packages.get(encodeBase64(reference)),
    }
  }

  /** Sends the bytes of all that has no answer once more. */
  sendTwice(): void {
    if (!this.#isSynced) return
    this.#inFlight.clear()
    this.#sendSealed()
  }

  /** Gives the last event once more, if it is not of an earlier connection. */
  async repeat(): Promise<void> {
    const event = this.#last
    if (!event || !this.#isSynced) return
    const isFrame = event.type === 'frame'
    if (isFrame && this.#heldFrom !== undefined) return
    await this.give(isFrame ? { ...event, isKnown: this.store.received.has(event.id) } : event)
    await this.pump()
  }

  /**
   * Takes back what the contact has not got, as for a contact of an older version. What was encrypted and is
   * not at the relay is taken back as well, the last one first.
   */
  async withdraw(): Promise<void> {
    if (!this.#isSynced || this.#inFlight.size > 0) return
    for (const { id, seq } of this.#around.relay.withdraw(this.account)) {
      const entry = this.store.sealed.find((each) => each.id === id)
      if (entry) await this.give({ type: 'accepted', id, seq })
      await this.#takeBack(id, entry)
    }
    for (const entry of this.store.sealed.toReversed()) await this.#takeBack(entry.id, entry)
    await this.pump()
  }

  // What repeats a message is no repetition any more: the course forgets both.
  async #takeBack(id: string, entry: OutboxEntry | undefined): Promise<void> {
    const root = rootOf(id)
    const message = this.store.history.get(root)
    if (root !== id) await this.give({ type: 'failed', id: root })
    const { waiting } = this.store
    const bare = {
      ...{ id: root, order: entry?.order ?? -1, body: encoder.encode(message?.body), isHidden: false },
      ...(entry?.deletes === undefined ? {} : { deletes: entry.deletes }),
    }
    const isWaiting = message === undefined || waiting.some((each) => each.id === root)
    await this.give(
      { type: 'failed', id },
      {
        ...this.#without(id),
        ...(isWaiting ? {} : { waiting: [bare, ...waiting].toSorted((a, b) => a.order - b.order) }),
      },
    )
  }

  /** The outbox without a message that has left, or never will. */
  #without(id: string): Pick<Store, 'sealed'> {
    return { sealed: this.store.sealed.filter((each) => each.id !== id) }
  }

  #bytesOf(blocks: readonly SentBlock[]): Store['blocks'] {
    const { store } = this
    return new Map(
      blocks.map((block) => [block.number, store.blocks.get(block.number) ?? encodeBlock(block)]),
    )
  }

  #act({ handshake, asks }: Step): void {
    const line = this.line
    if (handshake && line) line.up.push({ type: 'msg', ...handshake })
    for (const ask of asks) {
      if (ask.ask === 'again') for (const id of ask.ids) this.#sendAgain(id)
      else if (ask.ask === 'sync') line?.up.push({ type: 'sync' })
      else line?.up.push({ type: ask.ask === 'group' ? 'group' : 'claim' })
    }
  }

  #sendAgain(root: string): void {
    const { waiting, sealed, history, orders } = this.store
    if ([...waiting, ...sealed].some(({ resends }) => resends === root)) return
    const message = history.get(root)
    if (!message) return
    const id = `${root}${REPEATS}${encodeBase64(this.#around.random(6))}`
    const entry = { id, order: orders, body: encoder.encode(message.body), resends: root, isHidden: false }
    this.store = { ...this.store, orders: orders + 1, waiting: [...waiting, entry] }
  }

  #keep(keep: Keep): void {
    const { watch } = this.#around
    if (keep.keep === 'ciphertext') this.made.push(keep.payload)
    const before = this.store.history
    this.store = withKept(this.store, keep, other(this.account))
    if (keep.keep !== 'message' || this.store.history === before) return
    watch.onShown(this, keep.resends ?? keep.id, decoder.decode(keep.body))
  }

  #load(lost = 0): void {
    const { course, blocks } = this.store
    const stored = Array.from(blocks, ([number, bytes]) => [number, decodeBlock(bytes)] as const)
    const read = course && decodeInBlocks(course, new Map(stored))
    this.#course = read ? read.course : { ...newCourse(), peerSpeaks: true }
    this.#blocks = read ? read.blocks : []
    const at = {
      before: this.#course,
      after: this.#course,
      blocks: { before: this.#blocks, after: this.#blocks },
    }
    this.#around.watch.count({ ...at, event: { type: 'loaded', blocks: blocks.size, lost }, step: NOTHING })
    this.#isSynced = false
    this.#heldFrom = undefined
    this.#inFlight.clear()
    this.crashAt = undefined
  }
}
