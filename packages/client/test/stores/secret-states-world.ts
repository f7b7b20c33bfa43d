// What the tests of secret states share: a clock that a test moves, random bytes that are remembered, and
// faults at any step of a write.
import { grantSlots, KEYRING } from '../../src/stores/erasure-slots.ts'
import { openKeys, openState, readKeyring } from '../../src/stores/keyring.ts'
import { openSlotsOf } from '../../src/stores/open-slots.ts'
import type { StoreChange } from '../../src/stores/records.ts'
import { SecretStates, type SecretStatesOptions } from '../../src/stores/secret-states.ts'
import type { ClientStore } from '../../src/stores/store.ts'

export const text = (bytes: Uint8Array | 'lost' | undefined): string | undefined =>
  bytes instanceof Uint8Array ? new TextDecoder().decode(bytes) : bytes
export const bytes = (from: string): Uint8Array => new TextEncoder().encode(from)

/** A clock whose time passes only by `pass`. */
export class StillClock {
  readonly #waiting = new Set<{ readonly dueMs: number; readonly run: () => void }>()
  #nowMs = 0

  after(ms: number, run: () => void): () => void {
    const entry = { dueMs: this.#nowMs + ms, run }
    this.#waiting.add(entry)
    return () => this.#waiting.delete(entry)
  }

  now(): number {
    return this.#nowMs
  }

  pass(ms: number): void {
    this.#nowMs += ms
    for (const entry of [...this.#waiting]) {
      if (entry.dueMs > this.#nowMs) continue
      this.#waiting.delete(entry)
      entry.run()
    }
  }

  get waiting(): number {
    return this.#waiting.size
  }
}

/** Random bytes, and every key among them. */
export class RememberedBytes {
  readonly keys: Uint8Array[] = []
  readonly take = (length: number): Uint8Array => {
    const taken = crypto.getRandomValues(new Uint8Array(length))
    if (length === 32) this.keys.push(taken.slice())
    return taken
  }
}

/** Opens the states of a store. An error that nobody waits for fails the test. */
export function openStates(
  store: SecretStatesOptions['store'],
  options: Partial<SecretStatesOptions> = {},
): Promise<SecretStates> {
  return SecretStates.open({
    store,
    randomBytes: new RememberedBytes().take,
    clock: new StillClock(),
    onFailure: (error) => {
      throw error
    },
    ...options,
  })
}

/** Opens a sealed state as a thief would, who has the store's records and every key in `erasureKeys`. */
export async function stolenState(
  find: (name: string) => Promise<string | undefined>,
  erasureKeys: readonly Uint8Array[],
  name: string,
  sealed: string,
): Promise<string | undefined> {
  const keyring = readKeyring((await find(KEYRING)) ?? '')
  if (!keyring) return undefined
  for (const erasureKey of erasureKeys) {
    const key = (await openKeys(erasureKey, keyring))?.get(name)
    const state = key && (await openState(key, name, sealed))
    if (state) return text(state)
  }
  return undefined
}

/** The power goes at one step: what is written is lost, or was written but nobody learns it. */
export class PowerCut extends Error {}

/** Counts the steps of slots and stores, and cuts the power at one of them. */
export class Power {
  readonly steps: string[] = []
  readonly #cutAt: number
  readonly #isStepDone: boolean
  #isOff = false

  /** Cuts at the step of this number, from 0, before it is done or after. */
  constructor(cutAt = Number.POSITIVE_INFINITY, isStepDone = false) {
    this.#cutAt = cutAt
    this.#isStepDone = isStepDone
  }

  async step(name: string, run: () => Promise<void>): Promise<void> {
    if (this.#isOff) throw new PowerCut()
    const isCut = this.steps.push(name) - 1 === this.#cutAt
    this.#isOff ||= isCut
    if (!isCut || this.#isStepDone) await run()
    if (isCut) throw new PowerCut()
  }

  /** The records of a store, of which each write needs power, as each replacing in its slots does. */
  store(store: ClientStore): SecretStatesOptions['store'] {
    const powered = {
      findSecret: (name: string) => store.findSecret(name),
      write: (changes: readonly StoreChange[]) => this.step('write', () => store.write(changes)),
    }
    grantSlots(powered, {
      open: async () => {
        const { kind, read, replace, close } = await openSlotsOf(store)
        return {
          ...{ kind, read, close },
          replace: (slot, before, after) =>
            this.step(after.every((byte) => byte === 0) ? 'erase' : 'key', () =>
              replace(slot, before, after),
            ),
        }
      },
    })
    return powered
  }
}
