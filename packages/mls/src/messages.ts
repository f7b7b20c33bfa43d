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
  type PrivateMessage,
  processPrivateMessage,
  type RatchetTree,
  type SecretTree,
} from 'ts-mls'
import { concatBytes, encodeNumber, encodeVector, Reader } from './bytes.ts'
import { Door, MAX_FORWARD_STEPS } from './check-leaf.ts'
import {
  type Group,
  type Held,
  heldOf,
  type Member,
  makeGroup,
  membersOf,
  type OvertakenKey,
} from './group.ts'
import { isLeafOf } from './inspect.ts'
import { labeled } from './key-package.ts'
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
  const sender = membersOf(epoch.ratchetTree).find(({ index }) => index === leafIndex)
  if (sender === undefined || !isLeafOf(epoch.ratchetTree, leafIndex))
    throw invalid('a message of nobody in the group')
  if (leafIndex === state.privatePath.leafIndex) throw invalid('a message of this device')
  const next = epoch.secretTree.leafNodes[leafIndex * 2]?.application.generation ?? 0
  if (generation - next > MAX_FORWARD_STEPS)
    throw new MlsError('TOO_FAR', `a message more than ${MAX_FORWARD_STEPS} ahead of its sender's last one`)
  const found = (key: OvertakenKey) =>
    key.epoch === message.epoch && key.leaf === leafIndex && key.generation === generation
  if (generation < next) {
    const key = held.overtaken.find(found)
    if (key === undefined) throw invalid('the key of this message was used, or is erased')
    const plaintext = await openOvertaken(cipherSuite, {
      message,
      key,
      reuseGuard,
      sender,
      context: epoch.groupContext,
    })
    const overtaken = held.overtaken.filter((kept) => !found(kept))
    return { ...opened(message, plaintext, sender), group: makeGroup({ state, overtaken }) }
  }

  const context = await new Door(() => false).context()
  const result = await processPrivateMessage({ context, state, privateMessage: message })
  if (result.kind !== 'applicationMessage') throw invalid('not a message')
  // The library gives back the secrets of the generations it went past, in their order, before all others.
  const passed = result.consumed.slice(0, generation - next)
  const skipped = passed.slice(-MAX_OVERTAKEN_KEYS)
  const keys = await Promise.all(
    skipped.map(async (secret, at): Promise<OvertakenKey> => {
      const ofSkipped = generation - skipped.length + at
      return {
        epoch: message.epoch,
        leaf: leafIndex,
        generation: ofSkipped,
        key: await treeSecret(cipherSuite, secret, 'key', ofSkipped, cipherSuite.hpke.keyLength),
        nonce: await treeSecret(cipherSuite, secret, 'nonce', ofSkipped, cipherSuite.hpke.nonceLength),
      }
    }),
  )
  // The first of them is still in the former group.
  for (const secret of passed.slice(1)) secret.fill(0)
  wipeKey(result.consumed)
  const overtaken = [...held.overtaken, ...keys].slice(-MAX_OVERTAKEN_KEYS)
  return {
    ...opened(message, result.message, sender),
    group: makeGroup({ state: result.newState, overtaken }),
  }
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

/**
 * The sender data of a message (RFC 9420, section 6.3.2). The library decrypts it again, but computes with it
 * before it checks it: with a leaf outside the tree it never returns.
 */
async function readSenderData(
  { hpke, kdf }: CiphersuiteImpl,
  senderDataSecret: Uint8Array,
  { groupId, epoch, contentType, ciphertext, encryptedSenderData }: PrivateMessage,
): Promise<{ leafIndex: number; generation: number; reuseGuard: Bytes }> {
  const sample = ciphertext.subarray(0, kdf.size)
  const key = await expandWithLabel(kdf, senderDataSecret, 'key', sample, hpke.keyLength)
  const nonce = await expandWithLabel(kdf, senderDataSecret, 'nonce', sample, hpke.nonceLength)
  const additionalData = concatBytes(
    encodeVector(groupId),
    encodeNumber(epoch, 8),
    encodeNumber(contentType, 1),
  )
  const reader = new Reader(await hpke.decryptAead(key, nonce, additionalData, encryptedSenderData))
  const read = {
    leafIndex: Number(reader.number(4)),
    generation: Number(reader.number(4)),
    reuseGuard: reader.take(4),
  }
  if (reader.left > 0) throw invalid('bytes follow the sender data')
  return read
}

/** Opens a message whose key was derived when a later one of its sender came (RFC 9420, section 6.3.1). */
async function openOvertaken(
  { hpke, signature }: CiphersuiteImpl,
  {
    message,
    key,
    reuseGuard,
    sender,
    context,
  }: { message: PrivateMessage; key: OvertakenKey; reuseGuard: Bytes; sender: Member; context: GroupContext },
): Promise<Bytes> {
  const { groupId, epoch, contentType, authenticatedData, ciphertext } = message
  const nonce = key.nonce.map((byte, at) => byte ^ (reuseGuard[at] ?? 0))
  const head = concatBytes(encodeVector(groupId), encodeNumber(epoch, 8))
  const additionalData = concatBytes(head, encodeNumber(contentType, 1), encodeVector(authenticatedData))
  const reader = new Reader(await hpke.decryptAead(key.key, nonce, additionalData, ciphertext))
  const [plaintext, given] = [reader.vector(), reader.vector()]
  if (reader.take(reader.left).some((byte) => byte !== 0)) throw invalid('the padding is not of zeros')
  // FramedContentTBS (section 6.1): version, wire format, content, and the context of the group.
  const signed = concatBytes(
    encodeNumber(1, 2),
    encodeNumber(2, 2),
    head,
    encodeNumber(1, 1),
    encodeNumber(sender.index, 4),
    encodeVector(authenticatedData),
    encodeNumber(contentType, 1),
    encodeVector(plaintext),
    encodeContext(context),
  )
  const isValid = await signature.verify(
    sender.signaturePublicKey,
    labeled('FramedContentTBS', signed),
    given,
  )
  if (!isValid) throw invalid('a message with a wrong signature')
  return plaintext
}

/** GroupContext (RFC 9420, section 8.1). Our groups have no extensions. */
function encodeContext(context: GroupContext): Bytes {
  return concatBytes(
    encodeNumber(context.version, 2),
    encodeNumber(context.cipherSuite, 2),
    encodeVector(context.groupId),
    encodeNumber(context.epoch, 8),
    encodeVector(context.treeHash),
    encodeVector(context.confirmedTranscriptHash),
    encodeVector(new Uint8Array(0)),
  )
}

function opened(
  message: PrivateMessage,
  plaintext: Uint8Array,
  sender: Member,
): Omit<OpenedMessage, 'group'> {
  const authenticatedData = new Uint8Array(message.authenticatedData)
  return { kind: 'message', plaintext: new Uint8Array(plaintext), authenticatedData, sender }
}

/** `DeriveTreeSecret` (RFC 9420, section 9). */
function treeSecret(
  { kdf }: CiphersuiteImpl,
  secret: Uint8Array,
  label: string,
  generation: number,
  length: number,
): Promise<Bytes> {
  return expandWithLabel(kdf, secret, label, encodeNumber(generation, 4), length)
}

/** `ExpandWithLabel` (RFC 9420, section 8). */
async function expandWithLabel(
  kdf: CiphersuiteImpl['kdf'],
  secret: Uint8Array,
  label: string,
  context: Uint8Array,
  length: number,
): Promise<Bytes> {
  const info = concatBytes(
    encodeNumber(length, 2),
    encodeVector(new TextEncoder().encode(`MLS 1.0 ${label}`)),
    encodeVector(context),
  )
  return new Uint8Array(await kdf.expand(secret, info, length))
}

/** Overwrites the key that the message was encrypted with: the last of what the library gives back. */
function wipeKey(consumed: readonly Uint8Array[]): void {
  consumed.at(-1)?.fill(0)
}
