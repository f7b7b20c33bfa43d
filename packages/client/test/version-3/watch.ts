// Watches all devices of a model: counts the transitions, and finds keys that are used twice or not erased.
import { encodeBase64 } from '@sotto/crypto'
import { exportSecret, type Group, MlsError, open } from '@sotto/mls'
import {
  type Course,
  type CourseEvent,
  decodeCourse,
  type Step,
} from '../../src/secrecy/version-3/version-3.ts'
import { type AccountName, other } from './simulated-relay.ts'
import { nameOf, type Taken } from './transitions/transition.ts'
import { transitions } from './transitions/transitions.ts'

/** What is watched of a device. */
interface Watched {
  readonly account: AccountName
  readonly store: { readonly course: Uint8Array | undefined }
}

/** Every shown message is tried again with the stored state so often. */
const TRIES_EVERY = 3

interface Sealed {
  readonly id: string
  readonly payload: Uint8Array
}

/** The messages of one side in one MLS epoch, and a group of the other side that has opened none of them. */
interface EpochOfSide {
  witness: Group | undefined
  readonly messages: Sealed[]
}

export class Watch {
  /** How often each transition of the record was taken, by its name. */
  readonly taken = new Map<string, number>()
  /** How often each fine transition was taken: `situation, event → outcome`. */
  readonly transitions = new Map<string, number>()
  readonly broken: string[] = []
  /** What each account's devices ever showed: the message, and how often in all. */
  readonly shown: Record<AccountName, Map<string, string>> = { a: new Map(), b: new Map() }
  /** Messages that each account was told of: unreadable ones, and how many are missing. */
  readonly unreadable: Record<AccountName, Set<string>> = { a: new Set(), b: new Set() }
  readonly missing: Record<AccountName, number> = { a: 0, b: 0 }
  /** Every kind of notice. */
  readonly told = new Map<string, number>()
  readonly #epochs = new Map<string, EpochOfSide>()
  readonly #forgotten = new Set<Uint8Array>()
  readonly #names = new WeakMap<Group, string>()
  #opened = 0

  /** Counts the transitions that a step takes, or what happened instead of one. */
  count(taken: Taken): void {
    let isNamed = false
    for (const transition of transitions) {
      if (!transition.isTaken(taken)) continue
      isNamed = true
      const name = nameOf(transition)
      this.taken.set(name, (this.taken.get(name) ?? 0) + 1)
    }
    if (!isNamed) this.broken.push(`no transition of the record: ${taken.event.type}`)
  }

  async onStep(device: Watched, before: Course, event: CourseEvent, result: Step): Promise<void> {
    const transition = `${situationOf(before)}, ${wordsOf(event)} → ${situationOf(result.course)}${
      result.outcome === 'handled' ? '' : `, ${result.outcome}`
    }`
    this.transitions.set(transition, (this.transitions.get(transition) ?? 0) + 1)
    for (const notice of result.notices) {
      this.told.set(notice.tell, (this.told.get(notice.tell) ?? 0) + 1)
      if (notice.tell === 'unreadable') this.unreadable[device.account].add(notice.id)
      if (notice.tell === 'missing') this.missing[device.account] += notice.count
    }
    for (const keep of result.keep) {
      const isTold = result.notices.some(
        (notice) => notice.tell === 'unreadable' && 'id' in keep && notice.id === keep.id,
      )
      if (keep.keep === 'unreadable' && !isTold)
        this.broken.push(`${keep.id} is unreadable, and nobody is told`)
    }
    await this.#name(before, result.course)
    for (const { group } of result.course.groups) this.#witness(device.account, group)
    const present = result.course.groups.at(-1)
    for (const keep of result.keep) {
      if (keep.keep === 'ciphertext' && present)
        this.#epoch(present.group, device.account).messages.push({ id: keep.id, payload: keep.payload })
      if (keep.keep === 'message' && event.type === 'frame') await this.#tryAgain(device, event.payload)
    }
  }

  onShown(device: Watched, root: string, body: string): void {
    this.shown[device.account].set(root, body)
  }

  /** These bytes went with their device's state, and the relay never had them. */
  forget(payload: Uint8Array): void {
    this.#forgotten.add(payload)
  }

  /** The keys of a shown message must be gone from what is stored. */
  async #tryAgain(device: Watched, payload: Uint8Array): Promise<void> {
    this.#opened += 1
    if (this.#opened % TRIES_EVERY !== 0 || !device.store.course) return
    for (const { group } of decodeCourse(device.store.course).groups)
      if (await opens(group, payload)) this.broken.push('the stored state opens a message that was shown')
  }

  /**
   * Names the secrets of each group. After a relay was restored, two groups may have the same id and epoch.
   * A group that only opened or encrypted messages keeps its name.
   */
  async #name(before: Course, after: Course): Promise<void> {
    for (const { epoch, era, group } of after.groups) {
      const earlier = before.groups.find((kept) => kept.epoch === epoch && kept.era === era)
      const name = this.#names.get(group) ?? (earlier && this.#names.get(earlier.group))
      const secret = name === undefined && (await exportSecret(group, 'watch', new Uint8Array(), 16))
      this.#names.set(group, secret ? encodeBase64(secret) : (name ?? ''))
    }
  }

  #epoch(group: Group, sender: AccountName): EpochOfSide {
    const key = `${this.#names.get(group)} ${sender}`
    const found = this.#epochs.get(key) ?? { witness: undefined, messages: [] }
    this.#epochs.set(key, found)
    return found
  }

  /** The first state of an epoch opens every message of the other side once. */
  #witness(account: AccountName, group: Group): void {
    this.#epoch(group, other(account)).witness ??= group
  }

  /** Opens every ciphertext that was ever made, one after the other: a key that was used twice is gone. */
  async findReusedKeys(): Promise<void> {
    for (const { witness, messages } of this.#epochs.values()) {
      let group = witness
      for (const { id, payload } of messages) {
        if (!group) break
        if (this.#forgotten.has(payload)) continue
        const opened = await openOnce(group, payload)
        if (opened) group = opened
        else this.broken.push(`the key of message ${id} was used before`)
      }
    }
  }
}

async function opens(group: Group, payload: Uint8Array): Promise<boolean> {
  return (await openOnce(group, payload)) !== undefined
}

async function openOnce(group: Group, payload: Uint8Array): Promise<Group | undefined> {
  try {
    return (await open(group, payload, () => true)).group
  } catch (error) {
    if (error instanceof MlsError && error.code !== 'UNAVAILABLE') return undefined
    throw error
  }
}

/** The situation of a conversation in a few words. */
function situationOf({ groups, pending, doubt, stop }: Course): string {
  if (stop) return stop
  const words = [groups.length === 0 ? 'without a group' : 'in a group']
  if (pending) words.push(`${pending.kind} pending`)
  if (doubt) words.push(doubt.why === 'behind' ? `behind${doubt.isSure ? ' surely' : ''}` : doubt.why)
  return words.join(' ')
}

function wordsOf(event: CourseEvent): string {
  return event.type === 'frame' ? (event.isHandshake ? 'handshake' : 'message') : event.type
}
