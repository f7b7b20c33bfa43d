// The bytes of an archive: a header, then a stream that is sealed under the key of a passphrase. In it are
// lines of JSON (docs/client/archive.md).
import { type Bytes, SealedStream, STREAM_CHUNK_BYTES, STREAM_CHUNK_OVERHEAD_BYTES } from '@sotto/crypto'
import { derivePassphraseKey } from '@sotto/crypto/passphrase-key'
import { ClientError } from '../client-error.ts'
import { isAllowedCost, PASSPHRASE_COST } from '../stores/stores.ts'

/** 16 characters: the format and its version. */
const MAGIC = new TextEncoder().encode('sotto archive 1\n')
const COST_BYTES = 4
const SALT_BYTES = 32
const HEADER_BYTES = MAGIC.length + COST_BYTES + SALT_BYTES
const SEALED_CHUNK_BYTES = STREAM_CHUNK_BYTES + STREAM_CHUNK_OVERHEAD_BYTES
/** Longer than any record: a message has at most 64 KiB, and a friend list a few hundred bytes a friend. */
const MAX_LINE_CHARACTERS = 2 ** 26

/** Seals lines. Gives out the header, then a piece for each chunk. */
export async function* sealLines(
  lines: AsyncIterable<string>,
  options: { passphrase: string; randomBytes: (length: number) => Uint8Array },
): AsyncGenerator<Bytes, void> {
  const { n, r, p } = PASSPHRASE_COST
  const header = new Uint8Array(HEADER_BYTES)
  header.set(MAGIC)
  header.set([Math.log2(n), r, p, 0], MAGIC.length)
  header.set(options.randomBytes(SALT_BYTES), MAGIC.length + COST_BYTES)
  const key = await keyOf(options.passphrase, header)
  try {
    const stream = new SealedStream({ key, context: header })
    yield header
    const chunk = new Uint8Array(STREAM_CHUNK_BYTES)
    let filled = 0
    const encoder = new TextEncoder()
    for await (const line of lines) {
      const bytes = encoder.encode(`${line}\n`)
      for (let at = 0; at < bytes.length; ) {
        // A full chunk waits for the next byte, because the last one is sealed as such.
        if (filled === chunk.length) {
          yield await stream.seal(chunk, { isLast: false })
          filled = 0
        }
        const part = bytes.subarray(at, at + chunk.length - filled)
        chunk.set(part, filled)
        filled += part.length
        at += part.length
      }
      bytes.fill(0)
    }
    yield await stream.seal(chunk.subarray(0, filled), { isLast: true })
    chunk.fill(0)
  } finally {
    key.fill(0)
  }
}

/**
 * Opens an archive and gives out its lines. They are known to be complete only when the generator ends.
 * @throws ClientError `WRONG_PASSPHRASE`, `INVALID_ARCHIVE`
 */
export async function* openLines(
  pieces: AsyncIterable<Uint8Array>,
  passphrase: string,
): AsyncGenerator<string, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let open = ''
  for await (const bytes of openChunks(pieces, passphrase)) {
    open += textOf(decoder, bytes)
    bytes.fill(0)
    const lines = open.split('\n')
    open = lines.pop() ?? ''
    if (open.length > MAX_LINE_CHARACTERS) throw invalid('a line of the archive is too long')
    yield* lines
  }
  open += textOf(decoder)
  if (open !== '') throw invalid('the last line of the archive has no end')
}

function textOf(decoder: TextDecoder, bytes?: Uint8Array): string {
  try {
    return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode()
  } catch (cause) {
    throw invalid('the archive is not text', cause)
  }
}

async function* openChunks(
  pieces: AsyncIterable<Uint8Array>,
  passphrase: string,
): AsyncGenerator<Bytes, void> {
  const read = new ExactReader(pieces)
  const header = await read.next(HEADER_BYTES)
  checkHeader(header)
  const key = await keyOf(passphrase, header)
  try {
    const stream = new SealedStream({ key, context: header })
    for (let isFirst = true, isLast = false; !isLast; isFirst = false) {
      const sealed = await read.next(SEALED_CHUNK_BYTES)
      isLast = await read.hasEnded()
      if (sealed.length <= STREAM_CHUNK_OVERHEAD_BYTES) throw invalid('the archive was cut short')
      yield await stream.open(sealed, { isLast }).catch((cause) => {
        if (isFirst)
          throw new ClientError('WRONG_PASSPHRASE', 'wrong passphrase, or the archive was altered', { cause })
        throw invalid('the archive was altered or cut short', cause)
      })
    }
  } finally {
    key.fill(0)
  }
}

function checkHeader(header: Uint8Array): void {
  const isOurs = header.length === HEADER_BYTES && MAGIC.every((byte, at) => byte === header[at])
  if (!isOurs) throw invalid('this is no archive, or one of a newer program')
  const reserved = header[MAGIC.length + COST_BYTES - 1]
  if (!isAllowedCost(costOf(header)) || reserved !== 0) throw invalid('the archive was altered')
}

function costOf(header: Uint8Array): { n: number; r: number; p: number } {
  const [log2n = 0, r = 0, p = 0] = header.subarray(MAGIC.length)
  return { n: 2 ** log2n, r, p }
}

function keyOf(passphrase: string, header: Uint8Array): Promise<Bytes> {
  if (passphrase === '') throw new ClientError('INVALID_ARGUMENT', 'a passphrase is needed')
  const salt = header.subarray(MAGIC.length + COST_BYTES)
  return derivePassphraseKey({ passphrase, salt, cost: costOf(header) })
}

function invalid(message: string, cause?: unknown): ClientError {
  return new ClientError('INVALID_ARCHIVE', message, { cause })
}

/** Reads a number of bytes at a time from pieces of any length. */
class ExactReader {
  readonly #pieces: AsyncIterator<Uint8Array>
  #rest: Uint8Array = new Uint8Array(0)
  #isDone = false

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.asyncIterator]()
  }

  /** The next bytes; fewer at the end. */
  async next(length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length)
    let filled = 0
    while (filled < length && !(await this.hasEnded())) {
      const part = this.#rest.subarray(0, length - filled)
      bytes.set(part, filled)
      filled += part.length
      this.#rest = this.#rest.subarray(part.length)
    }
    return bytes.subarray(0, filled)
  }

  /** Whether no byte is left. */
  async hasEnded(): Promise<boolean> {
    while (this.#rest.length === 0 && !this.#isDone) {
      const { done, value } = await this.#pieces.next()
      if (done) this.#isDone = true
      else if (value instanceof Uint8Array) this.#rest = value
      else throw new ClientError('INVALID_ARGUMENT', 'an archive consists of bytes')
    }
    return this.#rest.length === 0
  }
}
