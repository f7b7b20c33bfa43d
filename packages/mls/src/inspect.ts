// What is looked at before the MLS library sees it: lengths, trees, and the kind of a message or commit.
import {
  clientStateDecoder,
  type FramedContent,
  type GroupInfo,
  type MlsMessage,
  type MlsWelcomeMessage,
  mlsMessageDecoder,
  nodeTypes,
  type PublicMessage,
  type RatchetTree,
  senderTypes,
  type Welcome,
  wireformats,
} from 'ts-mls'
import { concatBytes, encodeNumber, encodeVector } from './bytes.ts'
import { invalid } from './mls-error.ts'
import { SUITE_ID } from './suite.ts'

/** The most leaves that a group may have. The library's checks of a tree take time with their square. */
export const MAX_LEAVES = 64

/** The most bytes of a key package, Welcome, commit, GroupInfo or message. */
export const MAX_INPUT_BYTES = 1 << 20

const EXTERNAL_INIT = 6
const REMOVE = 3
const RATCHET_TREE = 2

/** Reads an MLSMessage (RFC 9420, section 6) with nothing behind it. */
export function readMessage(bytes: Uint8Array): MlsMessage {
  if (bytes.length > MAX_INPUT_BYTES) throw invalid(`longer than ${MAX_INPUT_BYTES} bytes`)
  const read = mlsMessageDecoder(bytes, 0)
  if (read === undefined || read[1] !== bytes.length) throw invalid('not one MLS message')
  return read[0]
}

/** Reads a Welcome of our suite. */
export function readWelcomeMessage(bytes: Uint8Array): Welcome {
  const message: MlsMessage | MlsWelcomeMessage = readMessage(bytes)
  if (message.wireformat !== wireformats.mls_welcome) throw invalid('not a Welcome')
  if (message.welcome.cipherSuite !== SUITE_ID) throw invalid('a Welcome of another suite')
  return message.welcome
}

/** Reads a GroupInfo of our suite, with a tree that is safe to work on. */
export function readGroupInfo(bytes: Uint8Array): { groupInfo: GroupInfo; tree: RatchetTree } {
  const message = readMessage(bytes)
  if (message.wireformat !== wireformats.mls_group_info) throw invalid('not a GroupInfo')
  return { groupInfo: message.groupInfo, tree: treeOf(message.groupInfo) }
}

/** Checks the plaintext of a Welcome's GroupInfo before the library works on its tree. */
export function checkWelcomeGroupInfo(plaintext: Uint8Array): void {
  readGroupInfo(concatBytes(encodeNumber(1, 2), encodeNumber(wireformats.mls_group_info, 2), plaintext))
}

/**
 * Refuses a tree that is too large, or whose nodes name leaves outside it: the library would climb from such
 * a leaf for ever.
 */
export function checkTree(tree: RatchetTree): void {
  if (tree.length > 2 * MAX_LEAVES - 1) throw invalid(`a group of more than ${MAX_LEAVES} leaves`)
  for (const [at, node] of tree.entries()) {
    if (node === undefined) continue
    const isLeafPlace = at % 2 === 0
    if (isLeafPlace !== (node.nodeType === nodeTypes.leaf)) throw invalid('a node is in the wrong place')
    if (node.nodeType !== nodeTypes.parent) continue
    const { unmergedLeaves } = node.parent
    if (unmergedLeaves.some((leaf) => !isLeafOf(tree, leaf)))
      throw invalid('a node names a leaf that is none')
    if (new Set(unmergedLeaves).size !== unmergedLeaves.length) throw invalid('a node names a leaf twice')
  }
}

/** What a commit is, as far as can be seen before it is applied. */
export type CommitShape =
  | { isExternal: false; sender: number }
  | { isExternal: true; removes: number | undefined }

/**
 * The shape of a commit. Two are accepted: a member's that only brings its leaf up to date, and an external
 * one that adds its author and removes at most one leaf. The library would also take a commit that removes
 * without new secrets (mended after this version), proposals by reference, and numbers of leaves outside the
 * tree, on which it never returns.
 */
export function shapeOfCommit({ content }: PublicMessage, tree: RatchetTree): CommitShape {
  const { sender } = content
  const { path, proposals } = commitOf(content)
  if (path === undefined) throw invalid('a commit without new keys')
  const inline = proposals.map((given) => {
    if (!('proposal' in given)) throw invalid('a commit with a proposal by reference')
    return given.proposal
  })
  if (sender.senderType === senderTypes.member) {
    if (inline.length > 0) throw invalid("a member's commit with proposals")
    if (!isLeafOf(tree, sender.leafIndex)) throw invalid('a commit of nobody in the group')
    return { isExternal: false, sender: sender.leafIndex }
  }
  if (sender.senderType !== senderTypes.new_member_commit) throw invalid('a commit of another kind of sender')
  const removed = inline.flatMap((proposal) => ('remove' in proposal ? [proposal.remove.removed] : []))
  const kinds = inline.map(({ proposalType }) => proposalType)
  const isAllowed = kinds.every((kind) => kind === EXTERNAL_INIT || kind === REMOVE)
  if (!isAllowed || kinds.filter((kind) => kind === EXTERNAL_INIT).length !== 1 || removed.length > 1)
    throw invalid('an external commit with other proposals')
  const [removes] = removed
  if (removes !== undefined && !isLeafOf(tree, removes)) throw invalid('a commit removes nobody in the group')
  return { isExternal: true, removes }
}

/** Whether a leaf is in a tree and not blank. */
export function isLeafOf(tree: RatchetTree, leaf: number): boolean {
  return leaf * 2 < tree.length && tree[leaf * 2]?.nodeType === nodeTypes.leaf
}

function commitOf(content: FramedContent) {
  if (!('commit' in content)) throw invalid('not a commit')
  return content.commit
}

function treeOf({ groupContext, extensions }: GroupInfo): RatchetTree {
  if (groupContext.cipherSuite !== SUITE_ID) throw invalid('a GroupInfo of another suite')
  if (groupContext.extensions.length > 0) throw invalid('a group with extensions')
  const trees = extensions.filter(({ extensionType }) => extensionType === RATCHET_TREE)
  const [tree] = trees
  if (tree === undefined || trees.length > 1 || !(tree.extensionData instanceof Uint8Array))
    throw invalid('a GroupInfo without exactly one tree')
  return decodeTree(tree.extensionData)
}

// The library decodes a tree only as part of a state. So a tree is read between the parts of an empty one: a
// group context before it, and keys, secret tree, path, proposals, tag, former epochs and the word behind it.
const BEFORE_TREE = concatBytes(encodeNumber(1, 2), encodeNumber(SUITE_ID, 2), new Uint8Array(1 + 8 + 3))
const BEHIND_TREE = concatBytes(
  new Uint8Array(8 + (4 + 1 + 1) + (4 + 1) + 4),
  encodeVector(new TextEncoder().encode('active')),
)

function decodeTree(bytes: Uint8Array): RatchetTree {
  const whole = concatBytes(BEFORE_TREE, bytes, BEHIND_TREE)
  const read = clientStateDecoder(whole, 0)
  if (read === undefined || read[1] !== whole.length) throw invalid('the tree is unreadable')
  const tree = read[0].ratchetTree
  checkTree(tree)
  return tree
}
