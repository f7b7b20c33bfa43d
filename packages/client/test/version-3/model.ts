// The model: a schedule of what people, networks, devices and a hostile relay do with one conversation.
import { createKeyPackage, newSignatureKeys } from '@sotto/mls'
import { Crash, type CrashPoint, Device } from './device.ts'
import { judge, type Posted, stateOf, textOf } from './judge.ts'
import type { Action, Schedule } from './schedule.ts'
import { type AccountName, type HeldPackage, type Lie, SimulatedRelay } from './simulated-relay.ts'
import { type Account, type Keys, newKeys, newStore, type Store } from './store.ts'
import type { Surrounding } from './surrounding.ts'
import { Watch } from './watch.ts'

/** How a schedule went. */
export interface Verdict {
  readonly broken: readonly string[]
  readonly watch: Watch
  readonly messages: number
}

const CRASHES: readonly CrashPoint[] = ['before the write', 'after the write', 'after sending']
const LIES: readonly Lie[] = [
  'drop',
  'repeat',
  'swap',
  'corrupt',
  'rename',
  'false_group_info',
  'stale_group_info',
  'foreign_key_package',
  'fork',
  'false_stale',
]
/** The lies of rich schedules, which a device without an old copy of its store must stand. */
const ALL_LIES: readonly Lie[] = [
  ...LIES,
  ...(['no_group_info', 'low_epoch', 'high_epoch', 'high_sent_seq', 'no_sent_seq'] as const),
  ...(['no_key_packages', 'accepted_as_stale'] as const),
]
/** The usual blocks would need hundreds of messages. */
const SMALL_BLOCKS = { inBlock: 3, withState: 2 }
const MINUTE_MS = 60_000
/** More frames than a device has under way. */
const MOST_FRAMES = 20
const DAY_MS = 24 * 60 * MINUTE_MS
/** The key packages of the model are good for three of them. */
const MOST_MONTHS = 2
/** After so many rounds without an end, and some for each message, a schedule hangs. */
const MOST_ROUNDS = 1500
const ROUNDS_A_MESSAGE = 30

const firstKeys = new WeakMap<Account, Promise<Keys>>()

/** Runs a schedule on real devices with real cryptography, and judges what the two accounts saw. */
export async function runSchedule(
  accounts: readonly [Account, Account],
  schedule: Schedule,
): Promise<Verdict> {
  const world = new World(accounts, schedule)
  await world.start()
  for (const action of schedule.actions) await world.act(action)
  await world.end()
  return { broken: world.watch.broken, watch: world.watch, messages: world.posted.length }
}

class World {
  readonly watch = new Watch()
  readonly relay = new SimulatedRelay()
  readonly posted: Posted[] = []
  readonly #accounts: readonly [Account, Account]
  readonly #schedule: Schedule
  /** The messages that were deleted, or lost with a block: the other side need not see them. */
  readonly #given = new Set<string>()
  #months = 0
  readonly #devices: Device[] = []
  /** The device of each account that was connected last. */
  readonly #active = new Map<AccountName, Device>()
  /** What a device had made whose state was replaced by an earlier copy. */
  readonly #withoutState = new Set<Uint8Array>()
  /** The last copy of a device's store, and how many ciphertexts it had made by then. */
  readonly #copies = new Map<Device, { readonly store: Store; readonly made: number }>()
  readonly #lives = new Map<Device, number>()
  readonly #surroundings = new Map<AccountName, Surrounding>()
  readonly #offsets = new Map<AccountName, number>()
  #now = Date.UTC(2026, 0, 1)
  #randoms = 0
  #messages = 0

  constructor(accounts: readonly [Account, Account], schedule: Schedule) {
    this.#accounts = accounts
    this.#schedule = schedule
  }

  async start(): Promise<void> {
    for (const own of this.#accounts) {
      const [peer] = this.#accounts.filter((each) => each !== own)
      if (!peer) throw new Error('a conversation has two accounts')
      this.#surroundings.set(own.name, {
        ...{ relay: this.relay, own, peer, watch: this.watch },
        random: (length) => this.#random(length),
        now: () => this.#now + (this.#offsets.get(own.name) ?? 0),
        ...(this.#schedule.isRich ? { blockSizes: SMALL_BLOCKS } : {}),
      })
      await this.#addDevice(own.name, await this.#firstKeysOf(own))
    }
    const [first] = this.#devices
    if (first && this.#schedule.isRich) this.relay.foreignPackage = await foreignPackage(first)
    for (const device of this.#devices) await this.#connect(device)
  }

  async #addDevice(account: AccountName, keys?: Keys): Promise<Device> {
    const around = this.#aroundOf(account)
    const device = new Device(`${account}${this.#devices.length}`, await newStore(around, keys), around)
    this.#devices.push(device)
    return device
  }

  /** The first devices of all schedules begin at the same time, and never meet. */
  #firstKeysOf(account: Account): Promise<Keys> {
    const made = firstKeys.get(account) ?? newKeys(this.#aroundOf(account.name))
    firstKeys.set(account, made)
    return made
  }

  #aroundOf(account: AccountName): Surrounding {
    const around = this.#surroundings.get(account)
    if (!around) throw new Error('an unknown account')
    return around
  }

  /** Bytes that differ each time: the model needs no secrets of its own. */
  #random(length: number): Uint8Array {
    this.#randoms += 1
    const bytes = crypto.getRandomValues(new Uint8Array(length))
    return bytes
  }

  async act({ act, who, how }: Action): Promise<void> {
    const device = this.#devices[who % this.#devices.length]
    if (!device) return
    switch (act) {
      case 'write':
        for (let left = how % 3; left >= 0; left--) this.#write(device)
        return this.#guarded(device, () => device.pump())
      case 'run':
        for (let left = 3 + (how % 10); left > 0; left--) await this.#round(device)
        return
      case 'serve':
        return this.#serve(device)
      case 'handle':
        return this.#guarded(device, () => device.handle())
      case 'connect':
        return this.#connect(device)
      case 'cut':
        // Half of the times everything arrives, and only the answers are lost.
        for (let left = how % 2 === 0 ? 0 : MOST_FRAMES; left > 0; left--) await this.#serve(device)
        if (device.line) this.relay.cut(device.account)
        return
      case 'crash':
        device.crashAt = CRASHES[how % CRASHES.length]
        return
      case 'tick':
        this.#now += [1000, 15_000, 10 * MINUTE_MS][how % 3] ?? 0
        return this.#guarded(device, () => device.give({ type: 'tick' }))
      case 'jump':
        return this.#jump(device, how)
      case 'wipe':
        return this.#wipe(device)
      case 'copy':
        this.#copies.set(device, { store: device.store, made: device.made.length })
        return
      case 'restore_copy':
        return this.#restoreCopy(device)
      case 'second_device':
        if (this.#devices.length < 4) await this.#connect(await this.#addDevice(device.account))
        return
      case 'back_up':
        return this.relay.backUp()
      case 'restore_relay':
        this.relay.restore()
        return
      case 'lie': {
        const lie = LIES[how % LIES.length]
        if (lie) this.relay.lies.add(lie)
        return
      }
      case 'word':
        return this.#sayWords(device)
      case 'call':
      case 'peer_speaks':
      case 'use_this_device':
      case 'allow_rejoins':
        return this.#guarded(device, async () => {
          await device.give({ type: act })
          await device.pump()
        })
      case 'unavailable':
        device.failsAfter = how % 8
        return
      case 'unanswered':
        this.relay.unanswered = how
        return
      case 'doubtful':
        device.isDoubtful = true
        return this.#connect(device)
      case 'send_twice':
        device.sendTwice()
        return
      case 'repeat':
        return this.#guarded(device, () => device.repeat())
      case 'write_many':
        for (let left = how; left > 0; left--) this.#write(device)
        return this.#guarded(device, () => device.pump())
      case 'delete':
        return this.#delete(device, how)
      case 'refuse':
        this.relay.refuses.add(how % 2 === 0 ? 'handshake' : 'message')
        return
      case 'withdraw':
        return this.#guarded(device, () => device.withdraw())
      case 'month':
        this.#months += 1
        if (this.#months <= MOST_MONTHS) this.#now += 31 * DAY_MS
        return this.#guarded(device, () => device.give({ type: 'tick' }))
      case 'restore_silently':
        for (const payload of this.relay.restore(true))
          if (this.#withoutState.has(payload)) this.watch.forget(payload)
        return
      case 'lose_block':
        for (const id of device.restartWithoutBlock(how)) this.#given.add(id)
        return
      case 'any_lie': {
        const lie = ALL_LIES[how % ALL_LIES.length]
        // Without the record an old copy is not known as one (see the record of the design).
        const isOfCopies = lie === 'no_sent_seq' && this.#schedule.weather !== 'lies'
        if (lie && !isOfCopies) this.relay.lies.add(lie)
        return
      }
      default:
        return act satisfies never
    }
  }

  #write(device: Device, deletes?: string): void {
    this.#messages += 1
    const id = `m${this.#messages}`
    device.write(id, textOf(id), deletes)
    const life = this.#lives.get(device) ?? 0
    this.posted.push({ id, from: device.account, device, life, at: this.#now })
  }

  /** Deletes one of the device's messages that has been encrypted. */
  #delete(device: Device, how: number): Promise<void> {
    const { waiting, history } = device.store
    const own = this.posted
      .map(({ id, device: by }) => (by === device ? id : ''))
      .filter((id) => history.has(id) && !this.#given.has(id) && !waiting.some((each) => each.id === id))
    const id = own.at(-1 - (how % 3))
    if (id === undefined) return Promise.resolve()
    this.#given.add(id)
    this.#write(device, id)
    return this.#guarded(device, () => device.pump())
  }

  async #round(device: Device): Promise<void> {
    if (!device.line) await this.#connect(device)
    await this.#serve(device)
    await this.#guarded(device, () => device.handle())
  }

  async #serve({ line }: Device): Promise<void> {
    if (line) this.relay.serve(line)
  }

  async #connect(device: Device): Promise<void> {
    this.#active.set(device.account, device)
    await this.#guarded(device, () => device.connect())
  }

  /** A device that crashes starts again with what it stored. */
  async #guarded(device: Device, run: () => Promise<unknown>): Promise<void> {
    try {
      await run()
    } catch (error) {
      if (!(error instanceof Crash)) throw error
      device.restart()
    }
  }

  async #jump(device: Device, how: number): Promise<void> {
    const byMs = [2 * DAY_MS, -2 * DAY_MS, 26 * 60 * MINUTE_MS, -MINUTE_MS][how % 4] ?? 0
    if (how % 8 < 4) this.#now += Math.abs(byMs)
    else this.#offsets.set(device.account, (this.#offsets.get(device.account) ?? 0) + byMs)
    await this.#guarded(device, () => device.give({ type: 'tick' }))
  }

  async #wipe(device: Device): Promise<void> {
    this.#beginLife(device)
    device.restart(await newStore(this.#aroundOf(device.account)))
  }

  #restoreCopy(device: Device): void {
    const copy = this.#copies.get(device)
    if (!copy) return
    // An old copy can know neither by itself nor by the relay what was encrypted after it and never accepted,
    // or forgotten by a relay that does not say so: the promise is not about that.
    for (const payload of device.made.slice(copy.made)) {
      if (!this.relay.acceptedPayloads.has(payload)) this.watch.forget(payload)
      this.#withoutState.add(payload)
    }
    this.#beginLife(device)
    device.restart(copy.store)
  }

  #beginLife(device: Device): void {
    this.#lives.set(device, (this.#lives.get(device) ?? 0) + 1)
  }

  async #sayWords(device: Device): Promise<void> {
    const { stop } = device.course
    if (stop === 'peer_rejoins') await this.#guarded(device, () => device.give({ type: 'allow_rejoins' }))
    else if (stop) await this.#guarded(device, () => device.give({ type: 'use_this_device' }))
    await this.#guarded(device, () => device.pump())
  }

  /**
   * From here on the relay is honest, nothing is cut, and people say their words. All that is due must
   * arrive.
   */
  async end(): Promise<void> {
    this.relay.lies.clear()
    this.relay.refuses.clear()
    this.relay.unanswered = 0
    const devices = [...this.#active.values()]
    for (const device of devices) {
      device.crashAt = undefined
      await this.#connect(device)
    }
    await this.#settle(devices)
    // Gaps are seen by what follows them.
    for (const device of devices) {
      this.#write(device)
      await this.#guarded(device, () => device.pump())
    }
    await this.#settle(devices)
    await this.watch.findReusedKeys()
    judge({
      ...{ watch: this.watch, relay: this.relay, posted: this.posted, given: this.#given, devices },
      ...{ weather: this.#schedule.weather, now: this.#now },
      lifeOf: (device) => this.#lives.get(device) ?? 0,
    })
  }

  async #settle(devices: readonly Device[]): Promise<void> {
    let quiet = 0
    for (let round = 0; quiet < 6; round++) {
      if (round > MOST_ROUNDS + ROUNDS_A_MESSAGE * this.posted.length) {
        this.watch.broken.push(`hangs: ${devices.map((each) => stateOf(each)).join('; ')}`)
        return
      }
      for (const device of devices) await this.#round(device)
      // What waits for the user's word is not lost: the people say it.
      const isQuiet = devices.every((device) => device.isQuiet && device.course.stop === undefined)
      quiet = isQuiet ? quiet + 1 : 0
      if (!isQuiet && round % 20 !== 19) continue
      this.#now += 15_000
      if (round % 100 === 99) this.#now += 10 * MINUTE_MS
      for (const device of devices) {
        if (round % 40 === 39) await this.#sayWords(device)
        await this.#guarded(device, () => device.give({ type: 'tick' }))
        await this.#guarded(device, () => device.pump())
        // What was left for the next connection comes with one.
        if (round % 200 === 199) await this.#connect(device)
      }
    }
  }
}

/** A key package whose certificate is an account's and whose keys are not. */
async function foreignPackage({ store }: Device): Promise<HeldPackage> {
  const { publicKey, privateKey } = await newSignatureKeys()
  const { credential } = store.leaf
  const leaf = { credential, signaturePublicKey: publicKey, signaturePrivateKey: privateKey }
  const { keyPackage } = await createKeyPackage(leaf, { notBefore: 0, notAfter: 4_000_000_000 })
  return { device: store.device, package: keyPackage, isLastResort: false }
}
