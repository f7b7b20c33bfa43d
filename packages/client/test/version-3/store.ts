// What a device of the model keeps: its leaf, its key packages, its history and outbox, and the state of the
// conversation as bytes. A store never changes: a write makes the next one.
import { encodeBase64, type IdentityKeys } from '@sotto/crypto'
import { signLeafCertificate } from '@sotto/crypto/version-3'
import { createKeyPackage, type LeafKeys, newSignatureKeys } from '@sotto/mls'
import type { Keep, OwnKeyPackage } from '../../src/secrecy/version-3/version-3.ts'
import type { AccountName, HeldPackage, SimulatedRelay } from './simulated-relay.ts'

export const RELAY = 'relay.test'
/** A message that waits to be sent, or to be acknowledged. */
export interface OutboxEntry {
  readonly id: string
  /** The order in which it was posted. */
  readonly order: number
  readonly body: Uint8Array
  readonly resends?: string
  /** The id of the message that it deletes. */
  readonly deletes?: string
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
  /** The blocks of own messages, by their numbers. */
  readonly blocks: ReadonlyMap<number, Uint8Array>
  readonly history: ReadonlyMap<string, Shown>
  /** The ids of the received messages that are in the history, or repeat one of it. */
  readonly received: ReadonlySet<string>
  /** With a ciphertext, in the order of their encryption. */
  readonly sealed: readonly OutboxEntry[]
  readonly waiting: readonly OutboxEntry[]
  readonly packages: ReadonlyMap<string, OwnKeyPackage>
  readonly orders: number
}

/** A person, with the keys of the phrase. */
export interface Account {
  readonly name: AccountName
  readonly keys: IdentityKeys
}

const decoder = new TextDecoder()
/** Stands in the id of a repetition, behind that of the message which it repeats. */
export const REPEATS = '#'

/** The id in the history of a message, or of what it repeats. */
export function rootOf(id: string): string {
  return id.split(REPEATS)[0] ?? id
}

/** The two accounts' public keys of an identity. */
export function publicKeysOf({ keys }: Account): { x25519: Uint8Array; ed25519: Uint8Array } {
  return { x25519: keys.agreement.publicKey, ed25519: keys.signing.publicKey }
}

/** What a new store is made with. */
export interface Beginning {
  readonly relay: SimulatedRelay
  readonly own: Account
  readonly random: (length: number) => Uint8Array
  readonly now: () => number
}

/** The keys of a new device, and what it uploads. */
export interface Keys extends Pick<Store, 'device' | 'leaf' | 'packages'> {
  readonly uploads: readonly HeldPackage[]
}

/** New keys, which are certified now. */
export async function newKeys({ own, random, now }: Omit<Beginning, 'relay'>): Promise<Keys> {
  const device = Buffer.from(random(16)).toString('hex')
  const { publicKey, privateKey } = await newSignatureKeys()
  const credential = await signLeafCertificate({
    ...{ relay: RELAY, device, account: publicKeysOf(own), signaturePublicKey: publicKey, time: now() },
    privateKey: own.keys.signing.privateKey,
  })
  const leaf: LeafKeys = { credential, signaturePublicKey: publicKey, signaturePrivateKey: privateKey }
  const packages = new Map<string, OwnKeyPackage>()
  const uploads: HeldPackage[] = []
  for (const isLastResort of [false, true]) {
    const seconds = Math.floor(now() / 1000)
    const lifetime = { notBefore: seconds - 3600, notAfter: seconds + 90 * 86_400 }
    const made = await createKeyPackage(leaf, lifetime)
    packages.set(encodeBase64(made.reference), { keyPackage: made.keyPackage, secrets: made.secrets })
    uploads.push({ device, package: made.keyPackage, isLastResort })
  }
  return { device, leaf, packages, uploads }
}

/**
 * A new store of a device that has nothing.
 * @param keys those of another device, which never meets this one
 */
export async function newStore(around: Beginning, keys?: Keys): Promise<Store> {
  const { uploads, device, leaf, packages } = keys ?? (await newKeys(around))
  around.relay.upload(around.own.name, uploads)
  return {
    ...{ device, leaf, course: undefined, blocks: new Map(), history: new Map(), received: new Set() },
    ...{ sealed: [], waiting: [], packages, orders: 0 },
  }
}

/** The store with what a step keeps, from this peer. */
export function withKept(store: Store, keep: Keep, peer: AccountName): Store {
  switch (keep.keep) {
    case 'message': {
      const root = keep.resends ?? keep.id
      const earlier = store.history.get(root)
      const received = new Set(store.received).add(keep.id).add(root)
      const shown = { from: peer, body: decoder.decode(keep.body), isUnreadable: false }
      const isNew = !earlier || earlier.isUnreadable
      return {
        ...store,
        received,
        history: isNew ? new Map(store.history).set(root, shown) : store.history,
      }
    }
    case 'unreadable': {
      const shown = { from: peer, body: '', isUnreadable: true }
      const history = new Map(store.history).set(keep.id, store.history.get(keep.id) ?? shown)
      return { ...store, history, received: new Set(store.received).add(keep.id) }
    }
    case 'ciphertext': {
      const { id, epoch, payload, isHidden } = keep
      const entry = store.waiting.find((each) => each.id === id) ?? {
        ...{ id, order: store.orders, body: new Uint8Array(), isHidden },
      }
      return {
        ...store,
        orders: store.orders + 1,
        waiting: store.waiting.filter((each) => each.id !== id),
        sealed: [...store.sealed, { ...entry, epoch, payload }],
      }
    }
    case 'ciphertext_gone': {
      const entry = store.sealed.find(({ id }) => id === keep.id)
      if (!entry) return store
      const { epoch: _epoch, payload: _payload, ...bare } = entry
      return {
        ...store,
        sealed: store.sealed.filter((each) => each !== entry),
        waiting: entry.isHidden
          ? store.waiting
          : [...store.waiting, bare].toSorted((a, b) => a.order - b.order),
      }
    }
    case 'needless':
      return { ...store, waiting: store.waiting.filter(({ id }) => id !== keep.id) }
    case 'key_package_used': {
      const packages = new Map(store.packages)
      packages.delete(encodeBase64(keep.reference))
      return { ...store, packages }
    }
    default:
      return keep satisfies never
  }
}
