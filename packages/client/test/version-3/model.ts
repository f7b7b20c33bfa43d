// The model: a schedule of what people, networks, devices and a hostile relay do with one conversation.
import {
  type Account,
  Crash,
  type CrashPoint,
  Device,
  newStore,
  type Store,
  type Surrounding,
} from './device.ts'
import { type AccountName, type Lie, other, SimulatedRelay } from './simulated-relay.ts'
import { Watch } from './watch.ts'

/** What a schedule may contain. */
export const WEATHERS = ['honest', 'losses', 'lies', 'all'] as const
export type Weather = (typeof WEATHERS)[number]

/** One step of a schedule. `who` chooses a device, `how` a variant. */
export interface Action {
  readonly act:
    | 'write'
    | 'run'
    | 'serve'
    | 'handle'
    | 'connect'
    | 'cut'
    | 'crash'
    | 'tick'
    | 'wipe'
    | 'copy'
    | 'restore_copy'
    | 'second_device'
    | 'back_up'
    | 'restore_relay'
    | 'lie'
    | 'word'
    | 'jump'
  readonly who: number
  readonly how: number
}

export interface Schedule {
  readonly weather: Weather
  readonly actions: readonly Action[]
}

/** How a schedule went. */
export interface Verdict {
  readonly broken: readonly string[]
  readonly watch: Watch
  readonly messages: number
}

interface Posted {
  readonly id: string
  readonly from: AccountName
  readonly device: Device
  /** How often the device's store had been replaced by then. */
  readonly life: number
  readonly at: number
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
const MINUTE_MS = 60_000
/** More frames than a device has under way. */
const MOST_FRAMES = 20
const DAY_MS = 24 * 60 * MINUTE_MS
/** After so many rounds without an end, a schedule hangs. */
const MOST_ROUNDS = 1500

/** Runs a schedule on real devices with real cryptography, and judges what the two accounts saw. */
export async function runSchedule(
  accounts: readonly [Account, Account],
  schedule: Schedule,
): Promise<Verdict> {
  const world = new World(accounts, schedule.weather)
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
  readonly #weather: Weather
  readonly #devices: Device[] = []
  /** The device of each account that was connected last. */
  readonly #active = new Map<AccountName, Device>()
  /** The last copy of a device's store, and how many ciphertexts it had made by then. */
  readonly #copies = new Map<Device, { readonly store: Store; readonly made: number }>()
  readonly #lives = new Map<Device, number>()
  readonly #surroundings = new Map<AccountName, Surrounding>()
  readonly #offsets = new Map<AccountName, number>()
  #now = Date.UTC(2026, 0, 1)
  #randoms = 0
  #messages = 0

  constructor(accounts: readonly [Account, Account], weather: Weather) {
    this.#accounts = accounts
    this.#weather = weather
  }

  async start(): Promise<void> {
    for (const own of this.#accounts) {
      const [peer] = this.#accounts.filter((each) => each !== own)
      if (!peer) throw new Error('a conversation has two accounts')
      this.#surroundings.set(own.name, {
        ...{ relay: this.relay, own, peer, watch: this.watch },
        random: (length) => this.#random(length),
        now: () => this.#now + (this.#offsets.get(own.name) ?? 0),
      })
      await this.#addDevice(own.name)
    }
    for (const device of this.#devices) await this.#connect(device)
  }

  async #addDevice(account: AccountName): Promise<Device> {
    const around = this.#aroundOf(account)
    const device = new Device(`${account}${this.#devices.length}`, await newStore(around), around)
    this.#devices.push(device)
    return device
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
        return this.relay.restore()
      case 'lie': {
        const lie = LIES[how % LIES.length]
        if (lie) this.relay.lies.add(lie)
        return
      }
      case 'word':
        return this.#sayWords(device)
      default:
        return act satisfies never
    }
  }

  #write(device: Device): void {
    this.#messages += 1
    const id = `m${this.#messages}`
    device.write(id, `text of ${id}`)
    const life = this.#lives.get(device) ?? 0
    this.posted.push({ id, from: device.account, device, life, at: this.#now })
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
    // An old copy can know neither by itself nor by the relay what was encrypted after it and never accepted:
    // the promise is not about that.
    for (const payload of device.made.slice(copy.made))
      if (!this.relay.acceptedPayloads.has(payload)) this.watch.forget(payload)
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
    this.#judge(devices)
  }

  async #settle(devices: readonly Device[]): Promise<void> {
    let quiet = 0
    for (let round = 0; quiet < 6; round++) {
      if (round > MOST_ROUNDS) {
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

  #judge(devices: readonly Device[]): void {
    const { watch, relay, posted } = this
    const isStrict = this.#weather === 'honest'
    for (const { id, from, device, life, at } of posted) {
      const to = other(from)
      if (watch.shown[to].has(id)) continue
      const isOwnersLast = devices.includes(device) && (this.#lives.get(device) ?? 0) === life
      // What a device lost with its store was never sent, or its acknowledgement is unknown to everybody.
      if (!isOwnersLast && !isStrict) continue
      if (this.#weather === 'all') continue
      const isTold = watch.unreadable[to].has(id) || watch.missing[to] > 0
      const isOld = this.#now - at > 29 * DAY_MS
      if (isStrict || (!isTold && !isOld))
        watch.broken.push(
          `${id} of ${device.name} is lost${isTold ? ', and told' : ''}${relay.accepted.has(id) ? ', accepted' : ''}`,
        )
    }
    if (isStrict)
      for (const notice of ['unreadable', 'missing', 'rejoined', 'forked', 'store_behind', 'displaced'])
        if (watch.told.has(notice)) watch.broken.push(`told although nothing happened: ${notice}`)
    for (const device of devices) this.#judgeHistory(device)
  }

  /** No text twice in a history, and none that nobody wrote. */
  #judgeHistory({ store, name, account }: Device): void {
    const texts = new Set<string>()
    for (const [id, { body, from, isUnreadable }] of store.history) {
      if (isUnreadable) continue
      if (texts.has(body)) this.watch.broken.push(`${name} shows twice: ${body}`)
      texts.add(body)
      const isTrue = this.posted.some(
        (each) => each.id === id && each.from === from && body === `text of ${id}`,
      )
      if (!isTrue) this.watch.broken.push(`${name} of ${account} shows what nobody wrote: ${body}`)
    }
  }
}

function stateOf({ name, course, store }: Device): string {
  const { groups, doubt, stop, pending, connection } = course
  const { sealed, waiting } = store
  return JSON.stringify({
    ...{ name, epochs: groups.map(({ epoch }) => epoch), doubt, stop, pending: pending?.kind, connection },
    ...{ sealed: sealed.map(({ id, epoch }) => `${id}@${epoch}`), waiting: waiting.map(({ id }) => id) },
  })
}
