// Messages of a conversation: encrypting, opening, gaps, and messages that later ones have overtaken.
import type { Bytes } from '@sotto/crypto'
import {
  type CiphersuiteImpl,
  type ClientState,
  contentTypes,
  createApplicationMessage,
  encode,
  type GroupContext,
  mlsMessageEncoder,
  nodeTypes,
  type PrivateMessage,
  processPrivateMessage,
  type RatchetTree,
  type SecretTree,
} from 'ts-mls'
import { Door, MAX_FORWARD_STEPS } from './check-leaf.ts'
import {
  type Group,
  type Held,
  heldOf,
  type Member,
  makeGroup,
  memberOf,
  type OvertakenKey,
} from './group.ts'
import { keyOf, nextSecret, openContent, readSenderData } from './message-keys.ts'
import { asMlsError, invalid, MlsError } from './mls-error.ts'
import { suite } from './suite.ts'

/** How many keys of overtaken messages a group keeps. The oldest go first. */
export const MAX_OVERTAKEN_KEYS = 100

/** A message that was opened. */
export interface OpenedMessage {
  kind: 'message'
  group: Group
  plaintext: Bytes
  authenticatedData: Bytes
  sender: Member
}

/**
 * Encrypts a message under the next key of this device, which is erased. `authenticatedData` travels in the
 * open, but unchanged. Store the group before a byte leaves: from the old one, the same key would be used
 * again.
 */
export function encrypt(
  group: Group,
  plaintext: Uint8Array,
  authenticatedData: Uint8Array,
): Promise<{ group: Group; message: Bytes }> {
  return asMlsError('the message', async () => {
    const held = heldOf(group)
    const context = await new Door(() => false).context()
    const { newState, message, consumed } = await createApplicationMessage({
      context,
      state: held.state,
      message: new Uint8Array(plaintext),
      authenticatedData: new Uint8Array(authenticatedData),
    })
    wipeKey(consumed)
    return {
      group: makeGroup({ ...held, state: newState }),
      message: new Uint8Array(encode(mlsMessageEncoder, message)),
    }
  })
}

/** Opens a message of the present epoch, or of a former one that the group still holds. */
export async function openMessage(held: Held, message: PrivateMessage): Promise<OpenedMessage> {
  const { state } = held
  if (message.contentType !== contentTypes.application)
    throw invalid('commits and proposals are not taken as private messages')
  const cipherSuite = await suite()
  const epoch = epochOfMessage(state, message)
  const { leafIndex, generation, reuseGuard } = await readSenderData(
    cipherSuite,
    epoch.senderDataSecret,
    message,
  )
  const leaf = epoch.ratchetTree[leafIndex * 2]
  if (leaf?.nodeType !== nodeTypes.leaf) throw invalid('a message of nobody in the group')
  const sender = memberOf(leaf.leaf, leafIndex)
  if (leafIndex === state.privatePath.leafIndex) throw invalid('a message of this device')
  const ratchet = epoch.secretTree.leafNodes[leafIndex * 2]
  const next = ratchet?.application.generation ?? 0
  if (generation - next > MAX_FORWARD_STEPS)
    throw new MlsError('TOO_FAR', `a message more than ${MAX_FORWARD_STEPS} ahead of its sender's last one`)
  const sent: Sent = { message, epoch, sender, generation, reuseGuard }
  if (generation < next) return openOvertaken(cipherSuite, held, sent)
  return ratchet ? openNext(cipherSuite, held, sent, ratchet) : openFirst(held, sent)
}

/** A message, and what its sender data say. */
interface Sent {
  readonly message: PrivateMessage
  readonly epoch: EpochKeys
  readonly sender: Member
  readonly generation: number
  readonly reuseGuard: Bytes
}

/** Opens a message whose key was derived when a later one of its sender came. */
async function openOvertaken(
  cipherSuite: CiphersuiteImpl,
  held: Held,
  { message, epoch, sender, generation, reuseGuard }: Sent,
): Promise<OpenedMessage> {
  const found = (each: OvertakenKey) =>
    each.epoch === message.epoch && each.leaf === sender.index && each.generation === generation
  const key = held.overtaken.find(found)
  if (key === undefined) throw invalid('the key of this message was used, or is erased')
  const context = epoch.groupContext
  const plaintext = await openContent(cipherSuite, { message, key, reuseGuard, sender, context })
  const overtaken = held.overtaken.filter((kept) => !found(kept))
  return { ...opened(message, plaintext, sender), group: makeGroup({ state: held.state, overtaken }) }
}

/** Opens a message with a later key of a sender's ratchet. The library would read its sender data again. */
async function openNext(
  cipherSuite: CiphersuiteImpl,
  held: Held,
  { message, epoch, sender, generation, reuseGuard }: Sent,
  ratchet: SecretTree['leafNodes'][number],
): Promise<OpenedMessage> {
  const { application } = ratchet
  const keys: OvertakenKey[] = []
  // The first secret stays in the former group, and the last one of the loop is that of this message.
  let secret = application.secret
  const erase = (): void => {
    if (secret !== application.secret) secret.fill(0)
  }
  for (let passed = application.generation; passed < generation; passed += 1) {
    if (generation - passed <= MAX_OVERTAKEN_KEYS)
      keys.push({ ...placeOf(message, sender), generation: passed, ...keyOf(secret, passed) })
    const next = nextSecret(secret, passed)
    erase()
    secret = next
  }
  const key = keyOf(secret, generation)
  const context = epoch.groupContext
  const plaintext = await openContent(cipherSuite, { message, key, reuseGuard, sender, context })
  key.key.fill(0)
  const after = { ...application, secret: nextSecret(secret, generation), generation: generation + 1 }
  erase()
  const { secretTree } = epoch
  const leafNodes = { ...secretTree.leafNodes, [sender.index * 2]: { ...ratchet, application: after } }
  return {
    ...opened(message, plaintext, sender),
    group: makeGroup({
      state: withSecrets(held.state, message.epoch, { ...secretTree, leafNodes }),
      overtaken: [...held.overtaken, ...keys].slice(-MAX_OVERTAKEN_KEYS),
    }),
  }
}

/** Opens the first message of a sender in an epoch: the library derives the sender's ratchet. */
async function openFirst(held: Held, { message, sender, generation }: Sent): Promise<OpenedMessage> {
  const context = await new Door(() => false).context()
  const result = await processPrivateMessage({ context, state: held.state, privateMessage: message })
  if (result.kind !== 'applicationMessage') throw invalid('not a message')
  // The library gives back the secrets of the generations it went past, in their order, before all others.
  const passed = result.consumed.slice(0, generation)
  const skipped = passed.slice(-MAX_OVERTAKEN_KEYS)
  const keys = skipped.map((secret, at): OvertakenKey => {
    const ofSkipped = generation - skipped.length + at
    return { ...placeOf(message, sender), generation: ofSkipped, ...keyOf(secret, ofSkipped) }
  })
  for (const secret of passed) secret.fill(0)
  wipeKey(result.consumed)
  const overtaken = [...held.overtaken, ...keys].slice(-MAX_OVERTAKEN_KEYS)
  return {
    ...opened(message, result.message, sender),
    group: makeGroup({ state: result.newState, overtaken }),
  }
}

function placeOf({ epoch }: PrivateMessage, { index: leaf }: Member): Pick<OvertakenKey, 'epoch' | 'leaf'> {
  return { epoch, leaf }
}

/** The state with other secrets of the present epoch, or of a former one. */
function withSecrets(state: ClientState, epoch: bigint, secretTree: SecretTree): ClientState {
  const former = state.historicalReceiverData.get(epoch)
  if (epoch === state.groupContext.epoch || !former) return { ...state, secretTree }
  const historicalReceiverData = new Map(state.historicalReceiverData).set(epoch, { ...former, secretTree })
  return { ...state, historicalReceiverData }
}

interface EpochKeys {
  senderDataSecret: Uint8Array
  secretTree: SecretTree
  ratchetTree: RatchetTree
  groupContext: GroupContext
}

// The library compares neither the group's id nor an epoch that lies ahead.
function epochOfMessage(state: ClientState, { groupId, epoch }: PrivateMessage): EpochKeys {
  const { groupContext, keySchedule, secretTree, ratchetTree, historicalReceiverData } = state
  if (
    groupId.length !== groupContext.groupId.length ||
    groupId.some((byte, at) => byte !== groupContext.groupId[at])
  )
    throw invalid('a message of another group')
  if (epoch === groupContext.epoch)
    return { senderDataSecret: keySchedule.senderDataSecret, secretTree, ratchetTree, groupContext }
  const former = historicalReceiverData.get(epoch)
  if (former === undefined) throw invalid('a message of an epoch that this group does not hold')
  return former
}

function opened(
  message: PrivateMessage,
  plaintext: Uint8Array,
  sender: Member,
): Omit<OpenedMessage, 'group'> {
  const authenticatedData = new Uint8Array(message.authenticatedData)
  return { kind: 'message', plaintext: new Uint8Array(plaintext), authenticatedData, sender }
}

/** Overwrites the key that the message was encrypted with: the last of what the library gives back. */
function wipeKey(consumed: readonly Uint8Array[]): void {
  consumed.at(-1)?.fill(0)
}
