// What a message is bound to besides its group (crypto_v 3): the `authenticated_data` of its MLS message.
import { sha256 } from '@noble/hashes/sha2.js'
import { type AccountKeys, equalBytes, writeAccountKeys } from './account-keys.ts'
import { ByteReader, ByteWriter } from './byte-record.ts'
import { type Bytes, checkBytes, checkText } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'

/**
 * The length of `hashOfMessage`, and of the context's hash. SHA-256 cut to 16 bytes: to put something else
 * in the place of a message or context, an attacker must find a second input for a given hash, which takes
 * 2^128 attempts. Two inputs with the same hash can be found by 2^64 attempts, but only by who makes both,
 * and the sender of a message gains nothing from having two of its own.
 */
export const MESSAGE_HASH_BYTES = 16

/** The length of a binding. It travels with each message, so every byte counts. */
export const BINDING_BYTES = 1 + 3 * MESSAGE_HASH_BYTES

const LABEL = 'sotto-binding-v1'
const FORMAT = 1

/** What both sides know of a message before it is decrypted. It does not travel: its hash does. */
export interface BindingContext {
  readonly conversationId: string
  readonly messageId: string
  readonly sender: AccountKeys
  readonly recipient: AccountKeys
}

/** Where a message stands among the others. Each is a `hashOfMessage`, or undefined if there is none. */
export interface MessagePlace {
  /** The sender's message before this one. */
  readonly previous?: Uint8Array | undefined
  /** The last message that the sender has seen from the recipient. */
  readonly seen?: Uint8Array | undefined
}

/**
 * The binding of a message: format 1, the hash of its context, the hash of the sender's previous message,
 * and the hash of the last message seen from the recipient (16 bytes each; zeros for none). Rejects with
 * `INVALID_ARGUMENT`, `INVALID_KEY`.
 */
export async function encodeBinding(input: BindingContext & MessagePlace): Promise<Bytes> {
  const { previous = noHash(), seen = noHash() } = input
  checkBytes(previous, 'previous', MESSAGE_HASH_BYTES)
  checkBytes(seen, 'seen', MESSAGE_HASH_BYTES)
  const context = await hashOfContext(input)
  return new ByteWriter().number(FORMAT).fixed(context).fixed(previous).fixed(seen).done()
}

/**
 * The place that a binding names. Rejects with `INVALID_ENCODING` for another format or length, and with
 * `DECRYPTION_FAILED` if it is the binding of another message, conversation or pair of accounts.
 */
export async function decodeBinding(binding: Uint8Array, expected: BindingContext): Promise<MessagePlace> {
  checkBytes(binding, 'binding', undefined, 'INVALID_ENCODING')
  const context = await hashOfContext(expected)
  const reader = new ByteReader(binding)
  if (reader.number() !== FORMAT)
    throw new CryptoError('INVALID_ENCODING', 'the format of a binding is unknown')
  const [found, previous, seen] = [readHash(reader), readHash(reader), readHash(reader)]
  reader.end()
  if (!equalBytes(found, context))
    throw new CryptoError('DECRYPTION_FAILED', 'the message is bound to another place')
  return { ...(isNone(previous) ? {} : { previous }), ...(isNone(seen) ? {} : { seen }) }
}

/** The 16-byte hash of an encrypted message: the start of the SHA-256 of its bytes. */
export async function hashOfMessage(message: Uint8Array): Promise<Bytes> {
  checkBytes(message, 'message')
  // Not WebCrypto's: for a message, its way to another thread and back takes a page longer than the hash.
  return sha256(message).slice(0, MESSAGE_HASH_BYTES)
}

function hashOfContext({ conversationId, messageId, sender, recipient }: BindingContext): Promise<Bytes> {
  checkText(conversationId, 'conversationId')
  checkText(messageId, 'messageId')
  const writer = new ByteWriter().text(LABEL).text(conversationId).text(messageId)
  writeAccountKeys(writer, sender, 'the sender')
  writeAccountKeys(writer, recipient, 'the recipient')
  return hashOfMessage(writer.done())
}

function noHash(): Bytes {
  return new Uint8Array(MESSAGE_HASH_BYTES)
}

function readHash(reader: ByteReader): Bytes {
  return reader.fixed(MESSAGE_HASH_BYTES)
}

function isNone(hash: Uint8Array): boolean {
  return hash.every((byte) => byte === 0)
}
