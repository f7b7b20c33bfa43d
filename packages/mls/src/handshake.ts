// How a group begins, changes its keys, and takes a device back in: Welcomes, commits, external commits.
import type { Bytes } from '@sotto/crypto'
import {
  type ClientState,
  createCommit,
  createGroupInfoWithExternalPubAndRatchetTree,
  createGroup as createMlsGroup,
  defaultCredentialTypes,
  defaultProposalTypes,
  encode,
  joinGroup,
  joinGroupExternal,
  type LeafNode,
  type MlsContext,
  mlsMessageEncoder,
  nodeTypes,
  type PublicMessage,
  processPublicMessage,
  protocolVersions,
  type RatchetTree,
  wireformats,
} from 'ts-mls'
import { equalBytes } from './bytes.ts'
import { type CheckLeaf, Door } from './check-leaf.ts'
import {
  type Group,
  type Held,
  heldOf,
  type LeafKeys,
  type Member,
  makeGroup,
  memberOf,
  membersOf,
} from './group.ts'
import { checkWelcomeGroupInfo, readGroupInfo, readWelcomeMessage, shapeOfCommit } from './inspect.ts'
import { decodeKeyPackage, generateForOwnLeaf, readSecrets } from './key-package.ts'
import { asMlsError, asMlsErrorSync, invalid } from './mls-error.ts'
import { suite } from './suite.ts'

/**
 * A commit that was opened and applied. The caller judges `before` and `after`, and drops `group` to refuse.
 */
export interface OpenedCommit {
  kind: 'commit'
  /** The next group. If `isRemoved`, the former one, which can no longer send. */
  group: Group
  before: Member[]
  after: Member[]
  /** Whether its author was no member, and joined by it. */
  isExternal: boolean
  /** Whether it removed this device's leaf. Then the keys of the next epoch are not this device's. */
  isRemoved: boolean
  /** Its author, as in `after`. */
  sender: Member
}

/** A commit of this device: the next group, what others need for it, and what a rejoin of theirs needs. */
export interface OwnCommit {
  group: Group
  commit: Bytes
  groupInfo: Bytes
}

/** A group of this device alone, at epoch 0. */
export function createGroup(leaf: LeafKeys, groupId: Uint8Array): Promise<Group> {
  return asMlsError('the new group', async () => {
    const { publicPackage, privatePackage } = await generateForOwnLeaf(leaf)
    const context = await new Door(() => false, leaf).context()
    const state = await createMlsGroup({
      context,
      groupId: new Uint8Array(groupId),
      keyPackage: publicPackage,
      privateKeyPackage: privatePackage,
    })
    return makeGroup({ state, overtaken: [] })
  })
}

/**
 * Adds a leaf by its key package, whose lifetime the caller has checked. In a group of one, nobody else needs
 * the commit, so none is returned; a larger group is refused.
 */
export function addMember(
  group: Group,
  keyPackage: Uint8Array,
  check: CheckLeaf,
): Promise<{ group: Group; welcome: Bytes; groupInfo: Bytes }> {
  return asMlsError('the key package', async () => {
    const { state } = heldOf(group)
    if (membersOf(state.ratchetTree).length !== 1) throw invalid('only a group of one adds a leaf')
    const added = decodeKeyPackage(keyPackage)
    const door = new Door(check)
    await door.checkEntry(memberOf(added.leafNode, 0))
    const context = await door.context()
    const { newState, welcome } = await door.run(() =>
      createCommit({
        context,
        state,
        wireAsPublicMessage: true,
        ratchetTreeExtension: true,
        extraProposals: [{ proposalType: defaultProposalTypes.add, add: { keyPackage: added } }],
      }),
    )
    await door.checkEntries(state.ratchetTree, newState.ratchetTree)
    if (welcome === undefined) throw invalid('the library made no Welcome')
    // The group of one that was before has told nobody anything.
    const next = { ...newState, historicalReceiverData: new Map() }
    return {
      group: makeGroup({ state: next, overtaken: [] }),
      welcome: new Uint8Array(encode(mlsMessageEncoder, welcome)),
      groupInfo: await groupInfoOf(next),
    }
  })
}

/** The references of the key packages that a Welcome is for. */
export function readWelcome(welcome: Uint8Array): { references: readonly Bytes[] } {
  return asMlsErrorSync('the Welcome', () => ({
    references: readWelcomeMessage(welcome).secrets.map(({ newMember }) => new Uint8Array(newMember)),
  }))
}

/**
 * Joins a group by a Welcome to one of this device's key packages. `check` is asked about every other leaf.
 */
export function joinByWelcome(
  welcome: Uint8Array,
  { keyPackage, secrets, leaf }: { keyPackage: Uint8Array; secrets: Uint8Array; leaf: LeafKeys },
  check: CheckLeaf,
): Promise<Group> {
  return asMlsError('the Welcome', async () => {
    const door = new Door(check, leaf)
    const context = await door.context()
    const state = await door.run(async () =>
      joinGroup({
        context: inspecting(context),
        welcome: readWelcomeMessage(welcome),
        keyPackage: decodeKeyPackage(keyPackage),
        privateKeys: readSecrets(secrets, leaf),
      }),
    )
    await door.checkEntries([], state.ratchetTree)
    return makeGroup({ state, overtaken: [] })
  })
}

/**
 * Brings this device's leaf up to date: new keys for the group, after which a copy of the former state opens
 * nothing more. The certificate becomes `leaf.credential`; the signature keys must be those of the group.
 */
export function commitUpdate(group: Group, leaf: LeafKeys): Promise<OwnCommit> {
  return asMlsError('the commit', async () => {
    const held = heldOf(group)
    const { state, own } = withCertificate(held.state, leaf)
    if (membersOf(state.ratchetTree).length < 2) throw invalid('a group of one has nobody to update for')
    const context = await new Door(() => false, leaf).context()
    const { newState, commit } = await createCommit({ context, state, wireAsPublicMessage: true })
    const next = withLeanHistory(newState, own)
    return {
      group: makeGroup({ state: next, overtaken: stillHeld(held, next) }),
      commit: new Uint8Array(encode(mlsMessageEncoder, commit)),
      groupInfo: await groupInfoOf(next),
    }
  })
}

/**
 * Joins a group from its GroupInfo by an external commit, in place of the leaf that `replaces` finds; without
 * such a leaf, beside the others. `check` is asked about every leaf of the tree.
 */
export function rejoin(
  groupInfo: Uint8Array,
  leaf: LeafKeys,
  { replaces }: { replaces: (member: Member) => boolean },
  check: CheckLeaf,
): Promise<OwnCommit> {
  return asMlsError('the GroupInfo', async () => {
    const { groupInfo: read, tree } = readGroupInfo(groupInfo)
    const [replaced, another] = membersOf(tree).filter(replaces)
    if (another !== undefined) throw invalid('more than one leaf would be replaced')
    const door = new Door(check, leaf)
    const context = await door.context(replaced)
    const { publicPackage, privatePackage } = await generateForOwnLeaf(leaf)
    const { publicMessage, newState } = await door.run(() =>
      joinGroupExternal({
        context,
        groupInfo: read,
        keyPackage: publicPackage,
        privateKeys: privatePackage,
        // Without a leaf to replace, the library never returns if it is told to look for one.
        resync: replaced !== undefined,
      }),
    )
    await door.checkEntries([], tree)
    const message = {
      version: protocolVersions.mls10,
      wireformat: wireformats.mls_public_message,
      publicMessage,
    }
    return {
      group: makeGroup({ state: newState, overtaken: [] }),
      commit: new Uint8Array(encode(mlsMessageEncoder, message)),
      groupInfo: await groupInfoOf(newState),
    }
  })
}

/** Applies a commit of another device to the present epoch. */
export async function openCommit(
  held: Held,
  message: PublicMessage,
  check: CheckLeaf,
): Promise<OpenedCommit> {
  const { state } = held
  const { groupContext, ratchetTree, privatePath } = state
  if (state.groupActiveState.kind !== 'active') throw invalid('this device is no longer in the group')
  // The library does not compare the group's id.
  if (!equalBytes(message.content.groupId, groupContext.groupId)) throw invalid('a commit of another group')
  if (message.content.epoch !== groupContext.epoch) throw invalid('a commit that leaves another epoch')
  const shape = shapeOfCommit(message, ratchetTree)
  if (!shape.isExternal && shape.sender === privatePath.leafIndex) throw invalid('a commit of this device')
  const isRemoved = shape.isExternal && shape.removes === privatePath.leafIndex
  const door = new Door(check)
  const context = await door.context()
  const before = membersOf(ratchetTree)
  const { newState } = await door.run(() =>
    processPublicMessage({
      context,
      state,
      publicMessage: message,
      // Whoever is removed cannot apply the commit. Its signature has been verified by now.
      callback: () => (isRemoved ? 'reject' : 'accept'),
    }),
  )
  const isExternal = shape.isExternal
  if (isRemoved) {
    const sender = memberOf(leafOfCommit(message), privatePath.leafIndex)
    await door.checkEntry(sender)
    const after = before.map((member) => (member.index === sender.index ? sender : member))
    const removed: ClientState = { ...state, groupActiveState: { kind: 'removedFromGroup' } }
    return {
      kind: 'commit',
      group: makeGroup({ ...held, state: removed }),
      before,
      after,
      isExternal,
      isRemoved,
      sender,
    }
  }
  await door.checkEntries(ratchetTree, newState.ratchetTree)
  const after = membersOf(newState.ratchetTree)
  const sender = after.find((member) =>
    shape.isExternal
      ? equalBytes(member.signaturePublicKey, leafOfCommit(message).signaturePublicKey)
      : member.index === shape.sender,
  )
  if (sender === undefined) throw invalid('a commit of nobody in the group')
  const next = withLeanHistory(newState)
  const group = makeGroup({ state: next, overtaken: stillHeld(held, next) })
  return { kind: 'commit', group, before, after, isExternal, isRemoved, sender }
}

function leafOfCommit({ content }: PublicMessage): LeafNode {
  if (!('commit' in content) || content.commit.path === undefined) throw invalid('a commit without new keys')
  return content.commit.path.leafNode
}

async function groupInfoOf(state: ClientState): Promise<Bytes> {
  const groupInfo = await createGroupInfoWithExternalPubAndRatchetTree(state, [], await suite())
  const message = { version: protocolVersions.mls10, wireformat: wireformats.mls_group_info, groupInfo }
  return new Uint8Array(encode(mlsMessageEncoder, message))
}

/** The context for joining, which looks at the GroupInfo of a Welcome as soon as it is decrypted. */
function inspecting(context: MlsContext): MlsContext {
  const { cipherSuite } = context
  const { hpke } = cipherSuite
  return {
    ...context,
    cipherSuite: {
      ...cipherSuite,
      hpke: {
        ...hpke,
        async decryptAead(...given) {
          const groupInfo = await hpke.decryptAead(...given)
          checkWelcomeGroupInfo(groupInfo)
          return groupInfo
        },
      },
    },
  }
}

/**
 * The state with a new certificate in its own leaf, from which the library takes it for the commit. The
 * library cannot change the signature key: it signs leaf and commit with the same.
 */
function withCertificate(state: ClientState, leaf: LeafKeys): { state: ClientState; own: RatchetTree } {
  const at = state.privatePath.leafIndex * 2
  const own = state.ratchetTree[at]
  if (state.groupActiveState.kind !== 'active' || own?.nodeType !== nodeTypes.leaf)
    throw invalid('this device is no longer in the group')
  if (!equalBytes(own.leaf.signaturePublicKey, leaf.signaturePublicKey))
    throw invalid('a commit does not change the signature keys')
  const credential = {
    credentialType: defaultCredentialTypes.basic,
    identity: new Uint8Array(leaf.credential),
  }
  const renewed = { ...own, leaf: { ...own.leaf, credential } }
  return { state: { ...state, ratchetTree: state.ratchetTree.with(at, renewed) }, own: state.ratchetTree }
}

/**
 * The state, whose newest former epoch has only what opening a message needs: of the tree, certificates and
 * signature keys. `tree` is the tree of that epoch, if the state has another one.
 */
function withLeanHistory(state: ClientState, tree?: RatchetTree): ClientState {
  const epoch = state.groupContext.epoch - 1n
  const former = state.historicalReceiverData.get(epoch)
  if (former === undefined) return state
  const none = new Uint8Array(0)
  const lean = (tree ?? former.ratchetTree).map((node) =>
    node?.nodeType === nodeTypes.leaf
      ? { ...node, leaf: { ...node.leaf, hpkePublicKey: none, signature: none } }
      : undefined,
  )
  const { [state.privatePath.leafIndex * 2]: _own, ...leafNodes } = former.secretTree.leafNodes
  const secretTree = { ...former.secretTree, leafNodes }
  const kept = { ...former, ratchetTree: lean, secretTree, resumptionPsk: none }
  return { ...state, historicalReceiverData: new Map(state.historicalReceiverData).set(epoch, kept) }
}

function stillHeld({ overtaken }: Held, { historicalReceiverData }: ClientState): Held['overtaken'] {
  return overtaken.filter(({ epoch }) => historicalReceiverData.has(epoch))
}
