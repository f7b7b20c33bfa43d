// The two sides of a conversation: whose leaf is whose, and the outer encryption of handshakes between them.
import { CryptoError, type RandomBytes } from '@sotto/crypto'
import {
  type AccountKeys,
  type LeafCertificate,
  type OuterKind,
  openOuter,
  readLeafCertificate,
  sealOuter,
  verifyLeafCertificate,
} from '@sotto/crypto/version-3'
import { type CheckLeaf, type LeafKeys, MlsError } from '@sotto/mls'

/** What a conversation's course knows of its two sides. The same as long as neither's identity changes. */
export interface Sides {
  readonly conversationId: string
  /** The host that logins are bound to. */
  readonly relay: string
  readonly own: AccountKeys
  /** As this device recorded them. */
  readonly peer: AccountKeys
  /** This device's id, as in its certificate. */
  readonly device: string
  /** This device's certificate and signature keys. */
  readonly leaf: LeafKeys
  /** `deriveOuterKey` of the two identities. */
  readonly outerKey: Uint8Array
}

type Leaf = Parameters<CheckLeaf>[0]

/** Whose leaf this is. */
export interface LeafOwner {
  readonly side: 'own' | 'peer'
  readonly device: string
  /** When it was certified. */
  readonly time: number
}

/**
 * The result; undefined if the input was refused: it is false, or breaks a rule. Every other failure is no
 * statement about the input, such as cryptography that could not be loaded, and rejects.
 */
export async function unlessRefused<T>(run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run()
  } catch (error) {
    const isOfInput =
      (error instanceof MlsError && error.code !== 'UNAVAILABLE') ||
      (error instanceof CryptoError &&
        (error.code === 'INVALID_ENCODING' || error.code === 'DECRYPTION_FAILED'))
    if (isOfInput) return undefined
    throw error
  }
}

/** The leaves that were verified last, of each pair of sides. A signature is checked once. */
const verified = new WeakMap<Sides, readonly (Leaf & { readonly owner: LeafOwner })[]>()
/** So many of them are remembered: two present leaves, and some that were replaced. */
const VERIFIED_LEAVES = 8

/**
 * Whose leaf this is: its certificate is signed by one of the two accounts, is for this relay, and names the
 * signature key of the leaf. Undefined for every other leaf. Its time does not matter: a device whose clock
 * is wrong by days could otherwise never join, and both sides would rejoin again and again.
 */
export async function ownerOf(sides: Sides, leaf: Leaf): Promise<LeafOwner | undefined> {
  const known = verified.get(sides)?.find((each) => isSameLeaf(each, leaf))
  if (known) return known.owner
  const owner = await verifiedOwnerOf(sides, leaf)
  if (!owner) return undefined
  const credential = leaf.credential.slice()
  const signaturePublicKey = leaf.signaturePublicKey.slice()
  const last = (verified.get(sides) ?? []).slice(1 - VERIFIED_LEAVES)
  verified.set(sides, [...last, { credential, signaturePublicKey, owner }])
  return owner
}

async function verifiedOwnerOf(sides: Sides, leaf: Leaf): Promise<LeafOwner | undefined> {
  const says = certificateOf(leaf.credential)
  if (!says) return undefined
  const side = sideOf(sides, says)
  if (!side) return undefined
  const { signaturePublicKey } = leaf
  const expected = { relay: sides.relay, account: sides[side], signaturePublicKey, now: says.time }
  if (!(await verifyLeafCertificate(leaf.credential, expected))) return undefined
  return { side, device: says.device, time: says.time }
}

/** The device of a leaf that claims to be this account's. Nothing has verified the claim. */
export function ownDeviceOf(sides: Sides, credential: Uint8Array): string | undefined {
  const says = certificateOf(credential)
  return says && sideOf(sides, says) === 'own' ? says.device : undefined
}

/** Lets in only leaves of the two accounts. A failure that is none of the leaf rejects, through MLS. */
export function checkOf(sides: Sides): CheckLeaf {
  return async (leaf) => (await ownerOf(sides, leaf)) !== undefined
}

/** Whether these are two leaves, one of each account. */
export async function areTwoSides(sides: Sides, leaves: readonly Leaf[]): Promise<boolean> {
  if (leaves.length !== 2) return false
  const found = new Set<string>()
  for (const leaf of leaves) found.add((await ownerOf(sides, leaf))?.side ?? 'nobody')
  return found.has('own') && found.has('peer')
}

/** Whether leaves that were let in before are of the two accounts as this device records them now. */
export function areOfAccounts(sides: Sides, leaves: readonly Leaf[]): boolean {
  return leaves.every(({ credential }) => {
    const says = certificateOf(credential)
    return says !== undefined && sideOf(sides, says) !== undefined
  })
}

/** Whether a leaf is this device's. */
export function isOwnLeaf({ leaf: own }: Sides, leaf: Leaf): boolean {
  return isSameLeaf(leaf, own)
}

function isSameLeaf(a: Leaf, b: Leaf): boolean {
  return isSame(a.signaturePublicKey, b.signaturePublicKey) && isSame(a.credential, b.credential)
}

export function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}

/** Seals a handshake of this device. */
export function sealHandshake(
  { conversationId, own, outerKey }: Sides,
  kind: OuterKind,
  epoch: number,
  plaintext: Uint8Array,
  randomBytes: RandomBytes,
): Promise<Uint8Array> {
  return sealOuter({ key: outerKey, conversationId, kind, epoch, sender: own, plaintext, randomBytes })
}

/** A handshake of the peer. Its kind is known only by what opens it. */
export interface OpenedHandshake {
  readonly kind: 'welcome' | 'commit' | 'rejoin'
  readonly payload: Uint8Array
}

/** The handshake of the peer that leaves this epoch; undefined if it is none. */
export async function openHandshake(
  sides: Sides,
  epoch: number,
  sealed: Uint8Array,
): Promise<OpenedHandshake | undefined> {
  for (const kind of ['commit', 'rejoin', 'welcome'] as const) {
    const payload = await openSealed(sides, kind, epoch, sides.peer, sealed)
    if (payload) return { kind, payload }
  }
  return undefined
}

/** The GroupInfo of this epoch, which either side may have made. */
export async function openGroupInfo(
  sides: Sides,
  epoch: number,
  sealed: Uint8Array,
): Promise<Uint8Array | undefined> {
  return (
    (await openSealed(sides, 'group_info', epoch, sides.peer, sealed)) ??
    (await openSealed(sides, 'group_info', epoch, sides.own, sealed))
  )
}

function openSealed(
  { conversationId, outerKey: key }: Sides,
  kind: OuterKind,
  epoch: number,
  sender: AccountKeys,
  sealed: Uint8Array,
): Promise<Uint8Array | undefined> {
  return unlessRefused(() => openOuter({ key, conversationId, kind, epoch, sender, sealed }))
}

function certificateOf(credential: Uint8Array): LeafCertificate | undefined {
  try {
    return readLeafCertificate(credential)
  } catch (error) {
    if (error instanceof CryptoError && error.code === 'INVALID_ENCODING') return undefined
    throw error
  }
}

function sideOf({ own, peer }: Sides, { account }: LeafCertificate): LeafOwner['side'] | undefined {
  if (isSameAccount(account, own)) return 'own'
  return isSameAccount(account, peer) ? 'peer' : undefined
}

function isSameAccount(a: AccountKeys, b: AccountKeys): boolean {
  return isSame(a.x25519, b.x25519) && isSame(a.ed25519, b.ed25519)
}
