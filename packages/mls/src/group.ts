// A group as this device holds it: what it consists of, its encoding, and who is in it.
import type { Bytes } from '@sotto/crypto'
import {
  type ClientState,
  clientStateDecoder,
  clientStateEncoder,
  encode,
  type LeafNode,
  mlsExporter,
  nodeTypes,
  type RatchetTree,
} from 'ts-mls'
import { concatBytes, encodeNumber, encodeVector, Reader } from './bytes.ts'
import { checkTree } from './inspect.ts'
import { asMlsError, asMlsErrorSync, invalid, MlsError } from './mls-error.ts'
import { SUITE_ID, suite } from './suite.ts'

declare const brand: unique symbol

/** A group. Immutable: every operation leaves it usable and returns the next one. */
export interface Group {
  readonly [brand]: true
}

/** What a leaf is: its certificate (opaque bytes) and its signature keys (Ed25519, 32 bytes each). */
export interface LeafKeys {
  credential: Uint8Array
  signaturePublicKey: Uint8Array
  signaturePrivateKey: Uint8Array
}

/** A leaf of a group. `index` is its place, which a rejoin may fill again. */
export interface Member {
  index: number
  credential: Bytes
  signaturePublicKey: Bytes
}

/** Key and nonce of a message that was overtaken by a later one of its sender. */
export interface OvertakenKey {
  epoch: bigint
  leaf: number
  generation: number
  key: Bytes
  nonce: Bytes
}

/** What a group consists of. */
export interface Held {
  readonly state: ClientState
  /** The oldest first. */
  readonly overtaken: readonly OvertakenKey[]
}

/** The version of `encodeGroup`. It rises with each change of what a state contains, in ts-mls or here. */
const STATE_VERSION = 1
const OVERTAKEN_KEY_BYTES = 8 + 4 + 4 + 32 + 12

const heldBy = new WeakMap<Group, Held>()

/** Makes a group of its parts. */
export function makeGroup(held: Held): Group {
  // The brand exists only in types: a group is known by the map alone.
  const group = Object.freeze({}) as Group
  heldBy.set(group, held)
  return group
}

/** The parts of a group. */
export function heldOf(group: Group): Held {
  const held = heldBy.get(group)
  if (held === undefined) throw invalid('not a group of this package')
  return held
}

/** The leaves of a group, by rising `index`. */
export function members(group: Group): Member[] {
  return membersOf(heldOf(group).state.ratchetTree)
}

/** The leaf of this device. Undefined after `open` has shown that another device took its place. */
export function ownMember(group: Group): Member | undefined {
  const { state } = heldOf(group)
  if (state.groupActiveState.kind !== 'active') return undefined
  return members(group).find(({ index }) => index === state.privatePath.leafIndex)
}

/** The MLS epoch of a group: 0 at its creation, one more with each commit. */
export function epochOf(group: Group): bigint {
  return heldOf(group).state.groupContext.epoch
}

/** The group's id, as given to `createGroup`. */
export function groupIdOf(group: Group): Bytes {
  return new Uint8Array(heldOf(group).state.groupContext.groupId)
}

/** The former epochs whose messages this group still opens, the oldest first. */
export function formerEpochs(group: Group): bigint[] {
  return [...heldOf(group).state.historicalReceiverData.keys()].toSorted((a, b) => (a < b ? -1 : 1))
}

/**
 * Erases the keys of all epochs before `epoch`, so that their messages open no more. The keys of overtaken
 * messages go with their epochs.
 */
export function forgetEpochs(group: Group, epoch: bigint): Group {
  const { state, overtaken } = heldOf(group)
  const kept = [...state.historicalReceiverData].filter(([former]) => former >= epoch)
  return makeGroup({
    state: { ...state, historicalReceiverData: new Map(kept) },
    overtaken: overtaken.filter((key) => key.epoch >= epoch),
  })
}

/** A secret of the present epoch for another purpose (RFC 9420, section 8.5). */
export function exportSecret(
  group: Group,
  label: string,
  context: Uint8Array,
  length: number,
): Promise<Bytes> {
  return asMlsError('the exported secret', async () => {
    const { exporterSecret } = heldOf(group).state.keySchedule
    return new Uint8Array(await mlsExporter(exporterSecret, label, context, length, await suite()))
  })
}

/** The group as bytes to store. They contain its secrets, with this device's private signature key. */
export function encodeGroup(group: Group): Bytes {
  const { state, overtaken } = heldOf(group)
  const keys = overtaken.map(({ epoch, leaf, generation, key, nonce }) =>
    concatBytes(encodeNumber(epoch, 8), encodeNumber(leaf, 4), encodeNumber(generation, 4), key, nonce),
  )
  const encoded = asMlsErrorSync('the group', () => encode(clientStateEncoder, state))
  return concatBytes(
    encodeNumber(STATE_VERSION, 1),
    encodeNumber(SUITE_ID, 2),
    encodeVector(encoded),
    encodeVector(concatBytes(...keys)),
  )
}

/** Reads the bytes of `encodeGroup`. Throws `VERSION` if another version or suite wrote them. */
export function decodeGroup(bytes: Uint8Array): Group {
  return asMlsErrorSync('the encoded group', () => {
    const reader = new Reader(bytes)
    if (reader.number(1) !== BigInt(STATE_VERSION) || reader.number(2) !== BigInt(SUITE_ID))
      throw new MlsError('VERSION', 'the group was encoded by another version of this package')
    const encoded = reader.vector()
    const keys = new Reader(reader.vector())
    if (reader.left > 0) throw invalid('bytes follow the encoded group')
    const state = readState(encoded)
    const overtaken: OvertakenKey[] = []
    while (keys.left >= OVERTAKEN_KEY_BYTES) {
      const [epoch, leaf, generation] = [keys.number(8), Number(keys.number(4)), Number(keys.number(4))]
      overtaken.push({ epoch, leaf, generation, key: keys.take(32), nonce: keys.take(12) })
    }
    if (keys.left > 0) throw invalid('the keys of overtaken messages are cut off')
    return makeGroup({ state, overtaken })
  })
}

/** The leaves of a tree, by rising index. */
export function membersOf(tree: RatchetTree): Member[] {
  return tree.flatMap((node, at) => (node?.nodeType === nodeTypes.leaf ? [memberOf(node.leaf, at / 2)] : []))
}

/** What others see of a leaf. */
export function memberOf(leaf: LeafNode, index: number): Member {
  const { credential, signaturePublicKey } = leaf
  if (!('identity' in credential)) throw invalid('a leaf has a credential that is not a basic one')
  return {
    index,
    credential: new Uint8Array(credential.identity),
    signaturePublicKey: new Uint8Array(signaturePublicKey),
  }
}

function readState(encoded: Uint8Array): ClientState {
  const read = clientStateDecoder(encoded, 0)
  if (read === undefined || read[1] !== encoded.length) throw invalid('the state is unreadable')
  const [state] = read
  const { groupContext, ratchetTree, privatePath } = state
  if (groupContext.cipherSuite !== SUITE_ID || groupContext.extensions.length > 0)
    throw invalid('the state is of another suite')
  checkTree(ratchetTree)
  for (const former of state.historicalReceiverData.values()) checkTree(former.ratchetTree)
  // The library would climb from a leaf outside the tree of secrets for ever.
  for (const { secretTree, ratchetTree: tree } of [state, ...state.historicalReceiverData.values()])
    if (secretTree.leafWidth * 2 - 1 !== tree.length) throw invalid('the state has secrets of another tree')
  if (ratchetTree[privatePath.leafIndex * 2]?.nodeType !== nodeTypes.leaf)
    throw invalid('the state has no leaf of its own')
  return state
}
