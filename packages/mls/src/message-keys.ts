// The keys of messages and what they open: sender data, a sender's ratchet, and the content.
import type { Bytes } from '@sotto/crypto'
import type { CiphersuiteImpl, GroupContext, PrivateMessage } from 'ts-mls'
import { concatBytes, encodeNumber, encodeVector, Reader } from './bytes.ts'
import type { Member } from './group.ts'
import { AEAD_KEY_BYTES, AEAD_NONCE_BYTES, hkdfExpand } from './hpke.ts'
import { labeled } from './key-package.ts'
import { invalid } from './mls-error.ts'

/** SHA-256's length: of a secret of the ratchet, and of the sample of a ciphertext. */
const SECRET_BYTES = 32

/** A derivation of `ExpandWithLabel` (RFC 9420, section 8), as far as it is always the same. */
interface Derivation {
  readonly length: number
  readonly head: Bytes
}

const AS_KEY = derivation('key', AEAD_KEY_BYTES)
const AS_NONCE = derivation('nonce', AEAD_NONCE_BYTES)
const AS_SECRET = derivation('secret', SECRET_BYTES)

/** Key and nonce of one message. */
export interface MessageKey {
  readonly key: Bytes
  readonly nonce: Bytes
}

/** Key and nonce of a generation of a sender's ratchet (RFC 9420, section 9.1). */
export function keyOf(secret: Uint8Array, generation: number): MessageKey {
  return pair(expandEach(secret, encodeNumber(generation, 4), AS_KEY, AS_NONCE))
}

/** The secret of the generation after this one. */
export function nextSecret(secret: Uint8Array, generation: number): Bytes {
  const [next] = expandEach(secret, encodeNumber(generation, 4), AS_SECRET)
  if (next === undefined) throw new Error('one derivation gives one secret')
  return next
}

/**
 * The sender data of a message (RFC 9420, section 6.3.2). The library computes with it before it checks it:
 * with a leaf outside the tree it never returns.
 */
export async function readSenderData(
  { hpke }: CiphersuiteImpl,
  senderDataSecret: Uint8Array,
  { groupId, epoch, contentType, ciphertext, encryptedSenderData }: PrivateMessage,
): Promise<{ leafIndex: number; generation: number; reuseGuard: Bytes }> {
  const sample = ciphertext.subarray(0, SECRET_BYTES)
  const { key, nonce } = pair(expandEach(senderDataSecret, sample, AS_KEY, AS_NONCE))
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

/** A message whose key is known, and whose sender is. */
export interface KeyedMessage {
  readonly message: PrivateMessage
  readonly key: MessageKey
  readonly reuseGuard: Uint8Array
  readonly sender: Pick<Member, 'index' | 'signaturePublicKey'>
  /** Of the message's epoch. */
  readonly context: GroupContext
}

/** Decrypts a message and verifies its signature (RFC 9420, sections 6.1 and 6.3.1). */
export async function openContent(
  { hpke, signature }: CiphersuiteImpl,
  { message, key, reuseGuard, sender, context }: KeyedMessage,
): Promise<Bytes> {
  const { groupId, epoch, contentType, authenticatedData, ciphertext } = message
  const nonce = key.nonce.map((byte, at) => byte ^ (reuseGuard[at] ?? 0))
  const head = concatBytes(encodeVector(groupId), encodeNumber(epoch, 8))
  const bound = encodeVector(authenticatedData)
  const type = encodeNumber(contentType, 1)
  const reader = new Reader(
    await hpke.decryptAead(key.key, nonce, concatBytes(head, type, bound), ciphertext),
  )
  const [plaintext, given] = [reader.vector(), reader.vector()]
  if (reader.take(reader.left).some((byte) => byte !== 0)) throw invalid('the padding is not of zeros')
  // FramedContentTBS (section 6.1): version, wire format, content, and the context of the group.
  const signed = concatBytes(
    encodeNumber(1, 2),
    encodeNumber(2, 2),
    head,
    encodeNumber(1, 1),
    encodeNumber(sender.index, 4),
    bound,
    type,
    encodeVector(plaintext),
    bytesOfContext(context),
  )
  const isValid = await signature.verify(
    sender.signaturePublicKey,
    labeled('FramedContentTBS', signed),
    given,
  )
  if (!isValid) throw invalid('a message with a wrong signature')
  return plaintext
}

/** Contexts as bytes. One never changes, and every message of its epoch needs it. */
const encodedContexts = new WeakMap<GroupContext, Bytes>()

function bytesOfContext(context: GroupContext): Bytes {
  const bytes = encodedContexts.get(context) ?? encodeContext(context)
  encodedContexts.set(context, bytes)
  return bytes
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

function derivation(label: string, length: number): Derivation {
  const head = concatBytes(
    encodeNumber(length, 2),
    encodeVector(new TextEncoder().encode(`MLS 1.0 ${label}`)),
  )
  return { length, head }
}

/** `ExpandWithLabel` of one secret and context, once for each derivation. */
function expandEach(secret: Uint8Array, context: Uint8Array, ...of: readonly Derivation[]): Bytes[] {
  const bound = encodeVector(context)
  return of.map(({ head, length }) => hkdfExpand(secret, concatBytes(head, bound), length))
}

function pair([key, nonce]: readonly Bytes[]): MessageKey {
  if (key === undefined || nonce === undefined) throw new Error('two derivations give two keys')
  return { key, nonce }
}
