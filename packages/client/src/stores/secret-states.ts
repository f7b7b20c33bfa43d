// The secret states of version 3: sealed in the store, under keys that are replaced and really erased.
// docs/decisions/0061-keys-that-are-erased.md says why.
import { asClientError, ClientError } from '../client-error.ts'
import { type Erasure, type ErasureSlots, KEYRING, type SlotIndex } from './erasure-slots.ts'
import {
  eraseBoth,
  type Found,
  findStates,
  openSlots,
  type SecretOutcome,
  type SecretStatesOptions,
  USED,
} from './found-states.ts'
import { KEY_BYTES, openState, sealKeyring, sealState, slotOf } from './keyring.ts'
import type { StoreChange } from './records.ts'
import { ERASED, isSameSlot } from './slot-bytes.ts'

export type { SecretStatesOptions }

/** A state that was used is sealed under a new key after this time at the latest. */
export const ROTATE_AFTER_MS = 60_000

/**
 * What a state is: of a conversation, own messages that belong to one, the private part of a key package, or
 * the keys of this device's leaf.
 */
export type SecretKind = 'conversation' | 'sent' | 'package' | 'leaf'

/** A state to keep. */
export interface SecretUpdate {
  readonly kind: SecretKind
  /** The id of the conversation, with a number for `sent`, of the key package, or of the device. */
  readonly id: string
  /** Undefined removes the state, and every way to open what was kept of it. */
  readonly state: Uint8Array | undefined
}

interface Update {
  readonly name: string
  readonly state: Uint8Array | undefined
}

/**
 * The secret states of one device. Only the client that has the store may open them, once.
 *
 * Each state is sealed under a key of its own, all keys in a keyring under the erasure key, and that in one
 * of two slots that are overwritten in place. A *rotation* gives new keys to the states that were used, and a
 * new erasure key to the keyring. So what was stored of a state before its last rotation cannot be opened,
 * whatever copies the disk keeps.
 */
export class SecretStates {
  /** Where the erasure key is. */
  readonly erasure: Erasure
  readonly outcome: SecretOutcome
  readonly #options: SecretStatesOptions
  readonly #slots: ErasureSlots
  readonly #keys: Map<string, Uint8Array>
  #erasureKey: Uint8Array | undefined
  #generation: number
  /** What the slot of the next erasure key holds. */
  #free = ERASED
  /** The states that were used since the last rotation; undefined for one that is only in the store. */
  readonly #used: Map<string, Uint8Array | undefined>
  #last: Promise<unknown> = Promise.resolve()
  #cancelTimer: (() => void) | undefined
  /** Refuses all work: after a failed write, or closed. */
  #end: ClientError | undefined
  #isClosed = false

  private constructor(options: SecretStatesOptions, slots: ErasureSlots, found: Found) {
    this.#options = options
    this.#slots = slots
    this.erasure = slots.kind
    this.outcome = found.outcome
    this.#keys = found.keys
    this.#erasureKey = found.erasureKey
    this.#generation = found.generation
    this.#used = new Map(found.used.map((name) => [name, undefined]))
  }

  /**
   * Opens the states of a store, and erases what a crash left of former keys.
   * @throws ClientError `STORE_FAILED`, `STORE_LOCKED`, `LOCKED` if the keys are out of reach for now: then
   *   nothing was changed
   */
  static async open(options: SecretStatesOptions): Promise<SecretStates> {
    const slots = await openSlots(options)
    try {
      const found = await findStates(options, slots)
      const states = new SecretStates(options, slots, found)
      // The program ended before their rotation.
      if (states.#used.size > 0) await states.rotate()
      return states
    } catch (error) {
      await slots.close()
      throw asClientError(error, 'STORE_FAILED')
    }
  }

  /** A copy of a state; `lost` if its record was altered; undefined for none. */
  get(kind: SecretKind, id: string): Promise<Uint8Array | 'lost' | undefined> {
    return this.#inTurn(async () => {
      const name = nameOf(kind, id)
      if (!this.#keys.has(name)) return undefined
      return (await this.#stateOf(name))?.slice() ?? 'lost'
    })
  }

  /** The ids of all states of a kind, in no order. */
  list(kind: SecretKind): Promise<readonly string[]> {
    const prefix = nameOf(kind, '')
    return this.#inTurn(async () =>
      Array.from(this.#keys.keys())
        .filter((name) => name.startsWith(prefix))
        .map((name) => name.slice(prefix.length)),
    )
  }

  /**
   * Writes states and other changes, all or none, in one write of the store. Resolves once they are durable.
   * With `rotates`, which each commit of a conversation needs, it is a rotation in the same write; removing a
   * state always is one. Calls become durable in their order. The states are copied.
   * @param late makes changes right before the write: those of whole records, which others may have written
   *   while the states were sealed
   * @throws ClientError `STORE_FAILED`, `STORE_LOCKED`, `CLOSED`
   */
  async write(
    updates: readonly SecretUpdate[],
    changes: readonly StoreChange[] = [],
    { rotates = false, late = (): readonly StoreChange[] => [] } = {},
  ): Promise<void> {
    const named = updates.map(({ kind, id, state }) => ({ name: nameOf(kind, id), state: state?.slice() }))
    const { written } = await this.#inTurn(() =>
      rotates || !this.#erasureKey || named.some(({ state }) => !state)
        ? this.#rotated(named, changes, late)
        : this.#sealed(this.#erasureKey, named, changes, late),
    )
    await written
  }

  /**
   * Replaces the keys of the states that were used, and the erasure key. Resolves once the old one is gone.
   */
  async rotate(): Promise<void> {
    await this.#inTurn(() => this.#rotateUsed())
  }

  /**
   * Removes every state together with other changes, such as `clear`, and erases both slots. To be called
   * when the user logs out or removes the account from the device.
   */
  async erase(changes: readonly StoreChange[] = []): Promise<void> {
    await this.#inTurn(async () => {
      await this.#store([...changes, { change: 'secrets_removed' }])
      this.#forget()
      await eraseBoth(this.#slots)
      this.#free = ERASED
    })
  }

  /** Rotates if a state was used, and forgets all keys. */
  async close(): Promise<void> {
    try {
      await this.#inTurn(async () => {
        if (this.#used.size > 0) await this.#rotateUsed()
      })
    } finally {
      await this.abandon()
    }
  }

  /** Forgets all keys without writing. For a client whose store another one takes over, or that is locked. */
  async abandon(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#end ??= new ClientError('CLOSED', 'the secret states are closed')
    await this.#last
    this.#forget()
    await this.#slots.close()
  }

  /** Seals states under their keys, and passes them to the store. */
  async #sealed(
    erasureKey: Uint8Array,
    updates: readonly Update[],
    changes: readonly StoreChange[],
    late: () => readonly StoreChange[],
  ): Promise<{ readonly written: Promise<void> }> {
    const keys = new Map(this.#keys)
    const all = [...changes]
    for (const { name, state } of updates) {
      const key = keys.get(name) ?? this.#newKey()
      keys.set(name, key)
      if (state) all.push(secret(name, await sealState(key, name, state, this.#options.randomBytes)))
    }
    if (keys.size > this.#keys.size) all.push(await this.#keyring(erasureKey, this.#generation, keys))
    const before = this.#used.size
    for (const { name, state } of updates) this.#used.set(name, state)
    if (this.#used.size > before) all.push(this.#usedRecord())
    for (const [name, key] of keys) this.#keys.set(name, key)
    this.#schedule()
    // The next call goes on before this write is durable. The store keeps their order.
    return { written: handled(this.#store([...all, ...late()])) }
  }

  /** A rotation with other changes in its write. Resolves once the old erasure key is gone, if it can be. */
  async #rotated(
    updates: readonly Update[],
    changes: readonly StoreChange[],
    late: () => readonly StoreChange[],
  ): Promise<{ readonly written: Promise<void> }> {
    const { randomBytes } = this.#options
    const updated = new Map(updates.map(({ name, state }) => [name, state]))
    const keys = new Map(this.#keys)
    const all = [...changes]
    for (const name of new Set([...this.#used.keys(), ...updated.keys()])) {
      const state = updated.has(name) ? updated.get(name) : await this.#stateOf(name)
      if (state) {
        const key = this.#newKey()
        keys.set(name, key)
        all.push(secret(name, await sealState(key, name, state, randomBytes)))
      } else if (updated.has(name)) {
        keys.delete(name)
        all.push({ change: 'secret', name })
      }
      // An altered state keeps its old key, with which it opens as little.
    }
    const next = this.#newKey()
    const generation = this.#generation + 1
    all.push(await this.#keyring(next, generation, keys), { change: 'secret', name: USED })
    await this.#replace(slotOf(generation), this.#free, next)
    this.#free = next
    await this.#store([...all, ...late()])
    // From here on the old keys open nothing that is needed.
    const old = this.#erasureKey
    for (const [name, key] of this.#keys) if (keys.get(name) !== key) key.fill(0)
    this.#keys.clear()
    for (const [name, key] of keys) this.#keys.set(name, key)
    this.#used.clear()
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#erasureKey = next
    this.#generation = generation
    this.#free = old ?? ERASED
    await this.#eraseOld()
    return { written: Promise.resolve() }
  }

  async #rotateUsed(): Promise<void> {
    await this.#rotated([], [], () => [])
  }

  /** Erases the former erasure key. If that fails, the next rotation does it. */
  async #eraseOld(): Promise<void> {
    if (isSameSlot(this.#free, ERASED)) return
    const old = this.#free
    try {
      await this.#replace(slotOf(this.#generation + 1), old, ERASED)
      this.#free = ERASED
      old.fill(0)
    } catch (error) {
      this.#options.onFailure(asClientError(error, 'STORE_FAILED'))
      this.#schedule()
    }
  }

  /** Plans a rotation, unless one is planned. */
  #schedule(): void {
    this.#cancelTimer ??= this.#options.clock.after(ROTATE_AFTER_MS, () => {
      this.#cancelTimer = undefined
      this.rotate().catch((error: unknown) => {
        if (this.#end) return
        this.#options.onFailure(asClientError(error, 'STORE_FAILED'))
        this.#schedule()
      })
    })
  }

  async #stateOf(name: string): Promise<Uint8Array | undefined> {
    const used = this.#used.get(name)
    if (used) return used
    const [key, sealed] = [this.#keys.get(name), await this.#options.store.findSecret(name)]
    return key && sealed !== undefined ? openState(key, name, sealed) : undefined
  }

  async #keyring(key: Uint8Array, generation: number, keys: ReadonlyMap<string, Uint8Array>) {
    const place = { erasure: this.erasure, generation }
    return secret(KEYRING, await sealKeyring(key, place, keys, this.#options.randomBytes))
  }

  #usedRecord(): StoreChange {
    return secret(USED, JSON.stringify([...this.#used.keys()]))
  }

  #newKey(): Uint8Array {
    return this.#options.randomBytes(KEY_BYTES).slice()
  }

  async #replace(slot: SlotIndex, before: Uint8Array, after: Uint8Array): Promise<void> {
    this.#refuseAfterEnd()
    await this.#slots.replace(slot, before, after)
  }

  #store(changes: readonly StoreChange[]): Promise<void> {
    this.#refuseAfterEnd()
    const { store, write = (all) => store.write(all) } = this.#options
    return write(changes).catch((error: unknown) => {
      // The keys in memory may be ahead of the store, so nothing may follow.
      this.#end ??= asClientError(error, 'STORE_FAILED')
      throw error
    })
  }

  #forget(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    for (const key of this.#keys.values()) key.fill(0)
    this.#keys.clear()
    this.#used.clear()
    this.#erasureKey?.fill(0)
    this.#erasureKey = undefined
    this.#generation = 0
  }

  #refuseAfterEnd(): void {
    if (this.#end) throw this.#end
  }

  /** Runs work after all earlier work, whether that failed or not. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(() => {
      this.#refuseAfterEnd()
      return work()
    })
    this.#last = result.catch(() => {})
    return result
  }
}

function secret(name: string, value: string): StoreChange {
  return { change: 'secret', name, value }
}

function nameOf(kind: SecretKind, id: string): string {
  return `${kind} ${id}`
}

/** The same promise. Its error is its reader's, also if that comes later. */
function handled(promise: Promise<void>): Promise<void> {
  promise.catch(() => {})
  return promise
}
