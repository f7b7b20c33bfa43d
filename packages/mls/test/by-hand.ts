// A passive reader of one conversation of two leaves, by the formulas of RFC 9420: it is leaf 1, and reads
// what leaf 0 sends. It verifies every signature and tag, and throws if something is not as it must be.

import { ml_kem768_x25519 } from '../../crypto/test/noble-hybrid.ts'
import {
  decryptWithLabel,
  deriveSecret,
  EMPTY,
  expandWithLabel,
  extract,
  type HandTree,
  hash,
  isSame,
  join,
  leafHash,
  mac,
  must,
  number,
  publicKeyOf,
  Reader,
  readCiphertext,
  readLeaf,
  readTree,
  seedOf,
  treeHash,
  utf8,
  vector,
  verifyWithLabel,
} from './by-hand-formulas.ts'
import { composed, openAes } from './compose-hpke.ts'

const SUITE = 0xf053
const NO_PSK = new Uint8Array(32)
/** Wire formats (section 17.2). */
const PUBLIC_MESSAGE = 1
const PRIVATE_MESSAGE = 2
const WELCOME = 3
const GROUP_INFO = 4
const KEY_PACKAGE = 5
/** Extensions (section 17.3). */
const RATCHET_TREE = 2
const EXTERNAL_PUB = 4
/** The extension of the profile. */
const LIFETIME = 0xf053

/** One epoch, as the reader knows it. */
export interface HandEpoch {
  readonly groupId: Uint8Array
  readonly epoch: number
  readonly tree: HandTree
  /** The encoded GroupContext (section 8.1). */
  readonly context: Uint8Array
  readonly interimHash: Uint8Array
  readonly epochSecret: Uint8Array
}

/** The reader's private keys, as X-Wing seeds, and its key package as bytes. */
export interface HandKeys {
  readonly keyPackage: Uint8Array
  readonly initSeed: Uint8Array
  readonly leafSeed: Uint8Array
}

/**
 * Checks the reader's key package (section 10), that the private keys are its own, and returns its lifetime
 * in seconds since 1970, from and until.
 */
export function checkKeyPackageByHand({ keyPackage, initSeed, leafSeed }: HandKeys): [number, number] {
  const reader = bodyOf(keyPackage, KEY_PACKAGE)
  const start = reader.at
  must(reader.number(2) === 1 && reader.number(2) === SUITE, 'another version or suite')
  must(isSame(reader.vector(), publicKeyOf(initSeed)), 'the init key is another')
  const leaf = readLeaf(reader, EMPTY, 0)
  must(leaf.parentHash === undefined, 'the leaf is of a commit')
  must(isSame(leaf.encryptionKey, publicKeyOf(leafSeed)), "the leaf's key is another")
  const extensions = new Reader(reader.vector())
  must(extensions.number(2) === LIFETIME, 'another extension')
  const lifetime = new Reader(extensions.vector())
  const times: [number, number] = [lifetime.number(8), lifetime.number(8)]
  must(lifetime.isAtEnd && extensions.isAtEnd, 'bytes follow the lifetime')
  const signed = reader.since(start)
  verifyWithLabel(leaf.signatureKey, 'KeyPackageTBS', signed, reader.vector())
  must(reader.isAtEnd, 'bytes follow the key package')
  return times
}

/** Joins by a Welcome (section 12.4.3.1). */
export function joinByHand(message: Uint8Array, { keyPackage, initSeed }: HandKeys): HandEpoch {
  const reader = bodyOf(message, WELCOME)
  must(reader.number(2) === SUITE, 'another suite')
  const secrets = new Reader(reader.vector())
  // KeyPackageRef (section 5.2): of the key package without the head of its MLSMessage.
  const reference = hash(vector(utf8('MLS 1.0 KeyPackage Reference')), vector(keyPackage.subarray(4)))
  must(isSame(secrets.vector(), reference), 'a Welcome for another key package')
  const encrypted = readCiphertext(secrets)
  const encryptedGroupInfo = reader.vector()
  must(secrets.isAtEnd && reader.isAtEnd, 'bytes follow the Welcome')
  const groupSecrets = new Reader(decryptWithLabel(initSeed, 'Welcome', encryptedGroupInfo, encrypted))
  const joinerSecret = groupSecrets.vector()
  // No path secret, and no pre-shared keys.
  must(isSame(groupSecrets.take(2), new Uint8Array(2)) && groupSecrets.isAtEnd, 'more than a joiner secret')
  // The key schedule (section 8).
  const memberSecret = extract(joinerSecret, NO_PSK)
  const welcomeSecret = deriveSecret(memberSecret, 'welcome')
  const groupInfo = readGroupInfo(new Reader(openAes(keysOf(welcomeSecret), EMPTY, encryptedGroupInfo)))
  const { groupId, epoch, tree, context, confirmedHash, confirmationTag } = groupInfo
  const epochSecret = expandWithLabel(memberSecret, 'epoch', context)
  checkTag(epochSecret, confirmedHash, confirmationTag)
  const interimHash = hash(confirmedHash, vector(confirmationTag))
  return { groupId, epoch, tree, context, interimHash, epochSecret }
}

/** Checks that a GroupInfo is of this epoch, with the key for external commits that the epoch has. */
export function checkGroupInfoByHand(message: Uint8Array, known: HandEpoch): void {
  const { context, confirmedHash, confirmationTag, externalPub } = readGroupInfo(bodyOf(message, GROUP_INFO))
  must(isSame(context, known.context), 'a GroupInfo of another epoch')
  checkTag(known.epochSecret, confirmedHash, confirmationTag)
  // Section 12.4.3.2 would have a length in front of the key: the one deviation of the profile.
  const key = publicKeyOf(externalSeedOf(known))
  must(externalPub !== undefined && isSame(externalPub, key), 'the external key is another')
}

/**
 * Applies a commit of leaf 0 with a path (section 12.4.2): its own, or the external one by which it takes its
 * former place again (section 12.4.3.2).
 */
export function commitByHand(message: Uint8Array, before: HandEpoch, { leafSeed }: HandKeys): HandEpoch {
  const reader = bodyOf(message, PUBLIC_MESSAGE)
  const start = reader.at
  must(isSame(reader.vector(), before.groupId) && reader.number(8) === before.epoch, 'another epoch')
  const isExternal = reader.number(1) === 4
  if (!isExternal) must(reader.number(4) === 0, 'a commit of another leaf')
  must(reader.vector().length === 0, 'a commit with additional data')
  must(reader.number(1) === 3, 'not a commit')
  const proposals = new Reader(reader.vector())
  const initSecret = isExternal ? externalInit(proposals, before) : deriveSecret(before.epochSecret, 'init')
  must(proposals.isAtEnd, 'a commit with other proposals')
  must(reader.number(1) === 1, 'a commit without a path')
  const leaf = readLeaf(reader, before.groupId, 0)
  const nodes = new Reader(reader.vector())
  const rootKey = nodes.vector()
  const ciphertexts = new Reader(nodes.vector())
  const encrypted = readCiphertext(ciphertexts)
  must(nodes.isAtEnd && ciphertexts.isAtEnd, 'a path of more than the root')
  const framed = reader.since(start)
  const signature = reader.vector()
  const confirmationTag = reader.vector()
  // FramedContentTBS and AuthenticatedContentTBM (sections 6.1 and 6.2).
  const signed = join(number(1, 2), number(PUBLIC_MESSAGE, 2), framed, before.context)
  verifyWithLabel(leaf.signatureKey, 'FramedContentTBS', signed, signature)
  if (!isExternal) {
    must(isSame(leaf.signatureKey, before.tree.leaves[0].signatureKey), 'another signature key')
    const authenticated = join(signed, vector(signature), vector(confirmationTag))
    const tag = mac(deriveSecret(before.epochSecret, 'membership'), authenticated)
    must(isSame(reader.vector(), tag), 'the membership tag is wrong')
  }
  must(reader.isAtEnd, 'bytes follow the commit')

  const tree: HandTree = { leaves: [leaf, before.tree.leaves[1]], rootKey }
  // The parent hash (section 7.9): the root has none, and its other child is this reader's leaf.
  const parentHash = hash(vector(rootKey), vector(EMPTY), vector(leafHash(tree.leaves[1], 1)))
  must(leaf.parentHash !== undefined && isSame(leaf.parentHash, parentHash), 'the parent hash is wrong')
  const { groupId } = before
  const epoch = before.epoch + 1
  const contextWith = (confirmedHash: Uint8Array) =>
    join(
      number(1, 2),
      number(SUITE, 2),
      vector(groupId),
      number(epoch, 8),
      vector(treeHash(tree)),
      vector(confirmedHash),
      vector(EMPTY),
    )
  // The path secret of the root (section 7.6), sealed under the context that still lacks the transcript.
  const provisional = contextWith(confirmedHashOf(before))
  const pathSecret = decryptWithLabel(leafSeed, 'UpdatePathNode', provisional, encrypted)
  must(isSame(publicKeyOf(seedOf(deriveSecret(pathSecret, 'node'))), rootKey), 'the root has another key')
  const commitSecret = deriveSecret(pathSecret, 'path')
  // The transcript hashes (section 8.2), then the key schedule (section 8).
  const confirmedHash = hash(before.interimHash, number(PUBLIC_MESSAGE, 2), framed, vector(signature))
  const context = contextWith(confirmedHash)
  const joinerSecret = expandWithLabel(extract(initSecret, commitSecret), 'joiner', context)
  const epochSecret = expandWithLabel(extract(joinerSecret, NO_PSK), 'epoch', context)
  checkTag(epochSecret, confirmedHash, confirmationTag)
  const interimHash = hash(confirmedHash, vector(confirmationTag))
  return { groupId, epoch, tree, context, interimHash, epochSecret }
}

/** Opens a message of leaf 0 (section 6.3): its authenticated data and its plaintext. */
export function openByHand(message: Uint8Array, epoch: HandEpoch) {
  const reader = bodyOf(message, PRIVATE_MESSAGE)
  const start = reader.at
  must(isSame(reader.vector(), epoch.groupId) && reader.number(8) === epoch.epoch, 'another epoch')
  const head = reader.since(start)
  must(reader.number(1) === 1, 'not an application message')
  const contentType = number(1, 1)
  const authenticatedData = reader.vector()
  const encryptedSenderData = reader.vector()
  const ciphertext = reader.vector()
  must(reader.isAtEnd, 'bytes follow the message')
  // Sender data (section 6.3.2).
  const sample = ciphertext.slice(0, 32)
  const senderKeys = keysOf(deriveSecret(epoch.epochSecret, 'sender data'), sample)
  const sender = new Reader(openAes(senderKeys, join(head, contentType), encryptedSenderData))
  must(sender.number(4) === 0, 'a message of another leaf')
  const generation = sender.number(4)
  const reuseGuard = sender.take(4)
  // The secret tree (section 9): from the root to its left child, and along the ratchet of that leaf.
  const root = deriveSecret(epoch.epochSecret, 'encryption')
  const ofLeaf = expandWithLabel(root, 'tree', utf8('left'))
  let secret = expandWithLabel(ofLeaf, 'application', EMPTY)
  for (let step = 0; step < generation; step += 1) secret = expandWithLabel(secret, 'secret', number(step, 4))
  const { key, nonce } = keysOf(secret, number(generation, 4))
  const guarded = { key, nonce: nonce.map((byte, at) => byte ^ (reuseGuard[at] ?? 0)) }
  // The content (section 6.3.1) and its signature (section 6.1).
  const additionalData = join(head, contentType, vector(authenticatedData))
  const content = new Reader(openAes(guarded, additionalData, ciphertext))
  const plaintext = content.vector()
  const signature = content.vector()
  must(content.isAtEnd, 'the profile has no padding of MLS')
  const framed = join(
    head,
    number(1, 1),
    number(0, 4),
    vector(authenticatedData),
    contentType,
    vector(plaintext),
  )
  const signed = join(number(1, 2), number(PRIVATE_MESSAGE, 2), framed, epoch.context)
  verifyWithLabel(epoch.tree.leaves[0].signatureKey, 'FramedContentTBS', signed, signature)
  return { generation, authenticatedData, plaintext }
}

/** `MLS-Exporter` (section 8.5) with an empty context and 32 bytes. */
export function exportByHand({ epochSecret }: HandEpoch, label: string): Uint8Array {
  return expandWithLabel(deriveSecret(deriveSecret(epochSecret, 'exporter'), label), 'exported', hash(EMPTY))
}

/** What follows the head of an MLSMessage (section 6). */
function bodyOf(message: Uint8Array, wireFormat: number): Reader {
  const reader = new Reader(message)
  must(reader.number(2) === 1 && reader.number(2) === wireFormat, 'another kind of message')
  return reader
}

/** Reads a GroupInfo (section 12.4.3) that leaf 0 signed. */
function readGroupInfo(reader: Reader) {
  const start = reader.at
  must(reader.number(2) === 1 && reader.number(2) === SUITE, 'another version or suite')
  const groupId = reader.vector()
  const epoch = reader.number(8)
  const [hashOfTree, confirmedHash] = [reader.vector(), reader.vector()]
  must(reader.vector().length === 0, 'the group has extensions')
  const context = reader.since(start)
  const extensions = new Reader(reader.vector())
  const found = new Map<number, Uint8Array>()
  while (!extensions.isAtEnd) found.set(extensions.number(2), extensions.vector())
  const confirmationTag = reader.vector()
  must(reader.number(4) === 0, 'another leaf signed')
  const signed = reader.since(start)
  const signature = reader.vector()
  must(reader.isAtEnd, 'bytes follow the GroupInfo')
  const tree = readTree(found.get(RATCHET_TREE) ?? EMPTY, groupId)
  verifyWithLabel(tree.leaves[0].signatureKey, 'GroupInfoTBS', signed, signature)
  must(isSame(treeHash(tree), hashOfTree), 'the tree has another hash')
  return {
    groupId,
    epoch,
    tree,
    context,
    confirmedHash,
    confirmationTag,
    externalPub: found.get(EXTERNAL_PUB),
  }
}

/** Reads the two proposals of a rejoin, Remove and ExternalInit: the init secret (section 8.3). */
function externalInit(proposals: Reader, before: HandEpoch): Uint8Array {
  must(proposals.number(1) === 1 && proposals.number(2) === 3 && proposals.number(4) === 0, 'no Remove')
  must(proposals.number(1) === 1 && proposals.number(2) === 6, 'no ExternalInit')
  const shared = ml_kem768_x25519.decapsulate(proposals.vector(), externalSeedOf(before))
  return composed(shared, EMPTY).exported(utf8('MLS 1.0 external init secret'))
}

/** The private key for external commits to an epoch (section 8.3). */
const externalSeedOf = ({ epochSecret }: HandEpoch) => seedOf(deriveSecret(epochSecret, 'external'))

/** A key and a nonce of AES-256-GCM of one secret. */
const keysOf = (secret: Uint8Array, context: Uint8Array = EMPTY) => ({
  key: expandWithLabel(secret, 'key', context),
  nonce: expandWithLabel(secret, 'nonce', context, 12),
})

/** The confirmed transcript hash of an epoch: in its context, before the empty extensions. */
const confirmedHashOf = ({ context }: HandEpoch) => context.slice(context.length - 33, -1)

/** Checks a confirmation tag (section 6.1). */
function checkTag(epochSecret: Uint8Array, confirmedHash: Uint8Array, tag: Uint8Array): void {
  must(isSame(mac(deriveSecret(epochSecret, 'confirm'), confirmedHash), tag), 'the confirmation tag is wrong')
}
