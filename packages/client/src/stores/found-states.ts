// Opens the secret states of a store: where their keys are, which of them still open, and what a crash left.
import type { RandomBytes } from '@sotto/crypto'
import * as v from 'valibot'
import { ClientError } from '../client-error.ts'
import { type ErasureSlots, KEYRING } from './erasure-slots.ts'
import { openKeys, readKeyring, slotOf } from './keyring.ts'
import { openSlotsOf } from './open-slots.ts'
import type { StoreChange } from './records.ts'
import { rowSlots } from './row-slots.ts'
import { ERASED, isSameSlot } from './slot-bytes.ts'
import type { ClientStore } from './store.ts'

/** The record with the names of the states that were used since the last rotation. */
export const USED = 'used'
const Names = v.array(v.string())

/** Whether states were found: none ever (`new`), all, or `lost`: no key opens them, so they were removed. */
export type SecretOutcome = 'new' | 'opened' | 'lost'

/** What `SecretStates.open` needs. */
export interface SecretStatesOptions {
  readonly store: Pick<ClientStore, 'findSecret' | 'write'>
  /** Writes to the same store, in the order of the calls: the journal's `write`. */
  readonly write?: (changes: readonly StoreChange[]) => Promise<void>
  readonly randomBytes: RandomBytes
  readonly clock: { after(ms: number, run: () => void): () => void }
  /** Gets the errors of rotations that nobody waits for. They are tried again. */
  readonly onFailure: (error: ClientError) => void
  /** Starts the worker of a browser's slots. By default the one of this package. */
  readonly startWorker?: (() => Worker) | undefined
}

/** What opening finds. */
export interface Found {
  readonly outcome: SecretOutcome
  readonly keys: Map<string, Uint8Array>
  readonly erasureKey: Uint8Array | undefined
  readonly generation: number
  readonly used: readonly string[]
}

const NOTHING = { keys: new Map(), erasureKey: undefined, generation: 0, used: [] }

/** Reads the keyring, and erases every slot whose key it does not need. */
export async function findStates(
  { store, ...options }: SecretStatesOptions,
  slots: ErasureSlots,
): Promise<Found> {
  const value = await store.findSecret(KEYRING)
  const sealed = value === undefined ? undefined : readKeyring(value)
  if (sealed && sealed.erasure !== slots.kind)
    throw new ClientError('STORE_FAILED', `the erasure key is kept in ${sealed.erasure}, which is not here`)
  const content = await slots.read()
  const slot = sealed && slotOf(sealed.generation)
  const erasureKey = slot === undefined ? undefined : content[slot]
  const keys = sealed && erasureKey && (await openKeys(erasureKey, sealed))
  if (!sealed || slot === undefined || !keys) {
    const { write = (changes: readonly StoreChange[]) => store.write(changes) } = options
    if (value !== undefined) await write([{ change: 'secrets_removed' }])
    await eraseBoth(slots)
    return { ...NOTHING, keys: new Map(), outcome: value === undefined ? 'new' : 'lost' }
  }
  const other = slot === 0 ? 1 : 0
  if (!isSameSlot(content[other], ERASED)) await slots.replace(other, content[other], ERASED)
  const used = readNames(await store.findSecret(USED)).filter((name) => keys.has(name))
  return { outcome: 'opened', keys, erasureKey, generation: sealed.generation, used }
}

/** The slots of a store: those that its keyring needs, its own, or records of it if it has none. */
export async function openSlots({ store, startWorker }: SecretStatesOptions): Promise<ErasureSlots> {
  const value = await store.findSecret(KEYRING)
  const needsRows = value !== undefined && readKeyring(value)?.erasure === 'rows'
  return needsRows ? rowSlots(store, 'rows') : openSlotsOf(store, startWorker)
}

export async function eraseBoth(slots: ErasureSlots): Promise<void> {
  const content = await slots.read()
  for (const slot of [0, 1] as const)
    if (!isSameSlot(content[slot], ERASED)) await slots.replace(slot, content[slot], ERASED)
}

function readNames(value: string | undefined): readonly string[] {
  try {
    return v.parse(Names, JSON.parse(value ?? '[]'))
  } catch {
    // It is not sealed, and it only says which keys to replace early.
    return []
  }
}
