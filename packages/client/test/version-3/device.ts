// A device in the model: the real course of a conversation, on a store that is written at once or not at
// all, with crashes between a write and what follows it.
import { encodeBase64, type IdentityKeys } from '@sotto/crypto'
import { deriveOuterKey, signLeafCertificate } from '@sotto/crypto/version-3'
import { createKeyPackage, type LeafKeys, newSignatureKeys } from '@sotto/mls'
import {
  type Course,
  type CourseEvent,
  decodeCourse,
  encodeCourse,
  type Keep,
  type Notice,
  newCourse,
  type OwnKeyPackage,
  type Sides,
  type Step,
  type Surroundings,
  step,
} from '../../src/secrecy/version-3/version-3.ts'
import { type AccountName, type Downward, type Line, other, type SimulatedRelay } from './simulated-relay.ts'
import type { Watch } from './watch.ts'

const RELAY = 'relay.test'
const CONVERSATION = 'conversation'

/** A message that waits to be sent, or to be acknowledged. */
interface OutboxEntry {
  readonly id: string
  /** The order in which it was posted. */
  readonly order: number
  readonly body: Uint8Array
  readonly resends?: string
  readonly isHidden: boolean
  readonly epoch?: number
  readonly payload?: Uint8Array
}

/** A message of the history. */
export interface Shown {
  readonly from: AccountName
  readonly body: string
  readonly isUnreadable: boolean
}

/** What a device keeps: the whole of it is replaced in one write. */
export interface Store {
  readonly device: string
  readonly leaf: LeafKeys
  readonly course: Uint8Array | undefined
  readonly history: ReadonlyMap<string, Shown>
  /** The ids of the received messages that are in the history, or repeat one of it. */
  readonly received: ReadonlySet<string>
  /** With a ciphertext, in the order of their encryption. */
  readonly sealed: readonly OutboxEntry[]
  readonly waiting: readonly OutboxEntry[]
  readonly packages: ReadonlyMap<string, OwnKeyPackage>
  readonly orders: number
}

export interface Account {
  readonly name: AccountName
  readonly keys: IdentityKeys
}

/** The device stopped between two writes. */
export class Crash extends Error {}

/** Where the next step of a device ends. */
export type CrashPoint = 'before the write' | 'after the write' | 'after sending'

const decoder = new TextDecoder()
const encoder = new TextEncoder()

/** The two accounts' public keys of an identity. */
function publicKeysOf({ keys }: Account): { x25519: Uint8Array; ed25519: Uint8Array } {
  return { x25519: keys.agreement.publicKey, ed25519: keys.signing.publicKey }
}

export interface Surrounding {
  readonly relay: SimulatedRelay
  readonly own: Account
  readonly peer: Account
  readonly watch: Watch
  readonly random: (length: number) => Uint8Array
  readonly now: () => number
}

/** A new store of a device that has nothing. */
export async function newStore(around: Surrounding): Promise<Store> {
  const { own, random, now, relay } = around
  const device = Buffer.from(random(16)).toString('hex')
  const { publicKey, privateKey } = await newSignatureKeys()
  const credential = await signLeafCertificate({
    ...{ relay: RELAY, device, account: publicKeysOf(own), signaturePublicKey: publicKey, time: now() },
    privateKey: own.keys.signing.privateKey,
  })
  const leaf: LeafKeys = { credential, signaturePublicKey: publicKey, signaturePrivateKey: privateKey }
  const packages = new Map<string, OwnKeyPackage>()
  const uploads = []
  for (const isLastResort of [false, true]) {
    const seconds = Math.floor(now() / 1000)
    const lifetime = { notBefore: seconds - 3600, notAfter: seconds + 90 * 86_400 }
    const made = await createKeyPackage(leaf, lifetime)
    packages.set(encodeBase64(made.reference), { keyPackage: made.keyPackage, secrets: made.secrets })
    uploads.push({ device, package: made.keyPackage, isLastResort })
  }
  relay.upload(own.name, uploads)
  return {
    ...{ device, leaf, course: undefined, history: new Map(), received: new Set(), sealed: [], waiting: [] },
    ...{ packages, orders: 0 },
  }
}

export class Device {
  readonly name: string
  readonly #around: Surrounding
  store: Store
  #course: Course
  #line: Line | undefined
  #isSynced = false
  /** The `seq` of the frame that was left for the next `sync`. */
  #heldFrom: number | undefined
  readonly #inFlight = new Set<string>()
  #sides: Promise<Sides>
  /** Where the next write crashes. */
  crashAt: CrashPoint | undefined
  readonly notices: Notice[] = []
  /** Every ciphertext that it made, whatever became of it. */
  readonly made: Uint8Array[] = []

  constructor(name: string, store: Store, around: Surrounding) {
    this.name = name
    this.#around = around
    this.store = store
    this.#course = newCourse()
    this.#sides = this.#readSides()
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
  restart(store = this.store): void {
    this.store = store
    if (this.#line?.isOpen) this.#around.relay.cut(this.account)
    this.#line = undefined
    this.#sides = this.#readSides()
    this.#load()
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
  write(id: string, body: string): void {
    const entry = { id, order: this.store.orders, body: encoder.encode(body), isHidden: false }
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
        const sealed = this.store.sealed.filter(({ id }) => id !== frame.id)
        await this.give({ type: 'accepted', id: frame.id, seq: frame.seq }, { sealed })
        return this.pump()
      }
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
        await this.give({ type: 'synced', incarnation: frame.incarnation })
        return this.pump()
      case 'group': {
        const { type, epoch, groupInfo, sentSeq } = frame
        await this.give({ type, epoch, sentSeq, ...(groupInfo === undefined ? {} : { groupInfo }) })
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
      const { id, body, resends } = next
      const { outcome } = await this.give({
        type: 'send',
        id,
        body,
        ...(resends === undefined ? {} : { resends }),
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
    const { random, watch, now } = this.#around
    const before = this.#course
    const result = await step(before, event, {
      ...{
        sides: await this.#sides,
        now: now(),
        random,
        newId: () => `${this.name}-${encodeBase64(random(9))}`,
      },
      findKeyPackage: async (reference) => this.store.packages.get(encodeBase64(reference)),
    })
    const crashAt = this.crashAt
    this.crashAt = undefined
    if (crashAt === 'before the write') throw new Crash()
    this.#course = result.course
    this.store = { ...this.store, ...changes, course: encodeCourse(result.course) }
    for (const each of result.keep) this.#keep(each)
    await watch.onStep(this, before, event, result)
    if (crashAt === 'after the write') throw new Crash()
    this.notices.push(...result.notices)
    this.#act(result)
    if (crashAt === 'after sending') throw new Crash()
    return result
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
    const id = `${root}/${encodeBase64(this.#around.random(6))}`
    const entry = { id, order: orders, body: encoder.encode(message.body), resends: root, isHidden: false }
    this.store = { ...this.store, orders: orders + 1, waiting: [...waiting, entry] }
  }

  #keep(keep: Keep): void {
    const { store } = this
    switch (keep.keep) {
      case 'message': {
        const root = keep.resends ?? keep.id
        const earlier = store.history.get(root)
        const received = new Set(store.received).add(keep.id).add(root)
        const shown = { from: other(this.account), body: decoder.decode(keep.body), isUnreadable: false }
        const isNew = !earlier || earlier.isUnreadable
        if (isNew) this.#around.watch.onShown(this, root, shown.body)
        this.store = {
          ...store,
          received,
          history: isNew ? new Map(store.history).set(root, shown) : store.history,
        }
        return
      }
      case 'unreadable': {
        const shown = { from: other(this.account), body: '', isUnreadable: true }
        const history = new Map(store.history).set(keep.id, store.history.get(keep.id) ?? shown)
        this.store = { ...store, history, received: new Set(store.received).add(keep.id) }
        return
      }
      case 'ciphertext': {
        const { id, epoch, payload, isHidden } = keep
        this.made.push(payload)
        const entry = store.waiting.find((each) => each.id === id) ?? {
          ...{ id, order: store.orders, body: new Uint8Array(), isHidden },
        }
        this.store = {
          ...store,
          orders: store.orders + 1,
          waiting: store.waiting.filter((each) => each.id !== id),
          sealed: [...store.sealed, { ...entry, epoch, payload }],
        }
        return
      }
      case 'ciphertext_gone': {
        const entry = store.sealed.find(({ id }) => id === keep.id)
        if (!entry) return
        const { epoch: _epoch, payload: _payload, ...bare } = entry
        this.store = {
          ...store,
          sealed: store.sealed.filter((each) => each !== entry),
          waiting: entry.isHidden
            ? store.waiting
            : [...store.waiting, bare].toSorted((a, b) => a.order - b.order),
        }
        return
      }
      case 'needless':
        this.store = { ...store, waiting: store.waiting.filter(({ id }) => id !== keep.id) }
        return
      case 'key_package_used': {
        const packages = new Map(store.packages)
        packages.delete(encodeBase64(keep.reference))
        this.store = { ...store, packages }
        return
      }
      default:
        return keep satisfies never
    }
  }

  #load(): void {
    const { course } = this.store
    this.#course = course ? decodeCourse(course) : { ...newCourse(), peerSpeaks: true }
    this.#isSynced = false
    this.#heldFrom = undefined
    this.#inFlight.clear()
    this.crashAt = undefined
  }

  async #readSides(): Promise<Sides> {
    const { own, peer } = this.#around
    const { device, leaf } = this.store
    const outerKey = await deriveOuterKey({
      privateKey: own.keys.agreement.privateKey,
      theirPublicKey: publicKeysOf(peer).x25519,
      conversationId: CONVERSATION,
    })
    return {
      ...{ conversationId: CONVERSATION, relay: RELAY, device, leaf, outerKey },
      ...{ own: publicKeysOf(own), peer: publicKeysOf(peer) },
    }
  }
}
