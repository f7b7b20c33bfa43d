// The plaintext of a version 3 message: a header for the course of the conversation, then the content,
// padded.
import { CryptoError } from '@sotto/crypto'
import { ByteReader, ByteWriter, pad, unpad } from '@sotto/crypto/version-3'
import { DELETES } from './limits.ts'

const FORMAT = 1
/** As the protocol has it. */
const MESSAGE_ID = /^[\x21-\x7e]{1,128}$/

/** What one message says. */
export interface Letter {
  /** An acknowledgement has no content and is not shown. */
  readonly kind: 'content' | 'acknowledgement'
  /** Counts the sender's messages since the last join of either side, from 1. */
  readonly number: number
  /** The highest number that the sender has from the recipient since that join; 0 for none. */
  readonly seen: number
  /** The id of the earlier message that this one repeats. */
  readonly resends?: string
  /** Numbers of the sender's messages that the recipient need not wait for: it deleted them. At most 128. */
  readonly deletes: readonly number[]
  readonly body: Uint8Array
}

/** The padded plaintext of a letter. */
export function encodeLetter({ kind, number, seen, resends, deletes, body }: Letter): Uint8Array {
  const header = new ByteWriter()
    .number(FORMAT)
    .number(kind === 'content' ? 0 : 1)
    .number(number)
    .number(seen)
  header.optional(resends, (id) => header.text(id))
  header.list(deletes, (each) => header.number(each))
  return pad(header.bytes(body).done())
}

/** The letter of a plaintext; undefined if it is none, breaks a rule, or is of a later format. */
export function decodeLetter(plaintext: Uint8Array): Letter | undefined {
  try {
    const reader = new ByteReader(unpad(plaintext))
    const format = reader.number()
    const kind = reader.number()
    if (format !== FORMAT || kind > 1) return undefined
    const [number, seen] = [reader.number(), reader.number()]
    const resends = reader.optional(() => reader.text())
    const deletes = reader.list(() => reader.number())
    const body = reader.bytes()
    reader.end()
    // The id becomes that of a stored message.
    if (number === 0 || (resends !== undefined && !MESSAGE_ID.test(resends))) return undefined
    if (deletes.length > DELETES) return undefined
    return {
      kind: kind === 0 ? 'content' : 'acknowledgement',
      ...{ number, seen, deletes, body },
      ...(resends === undefined ? {} : { resends }),
    }
  } catch (error) {
    if (error instanceof CryptoError && error.code === 'INVALID_ENCODING') return undefined
    throw error
  }
}
