// Own messages without an acknowledgement, divided into blocks that are stored once and what is stored with
// the state. The peer may be away for weeks, and a state with thousands of them would be written with each
// message.
import { CryptoError } from '@sotto/crypto'
import { ByteReader, ByteWriter } from '@sotto/crypto/version-3'
import type { Sent } from './course.ts'
import { readSentList, writeSentList } from './sent-code.ts'

const VERSION = 1

/** How many messages a new block has, and how many of the latest stay with the state at least. */
export interface BlockSizes {
  readonly inBlock: number
  readonly withState: number
}

/** Most of the latest messages are acknowledged soon. */
const USUAL: BlockSizes = { inBlock: 128, withState: 64 }

/** Messages that follow each other, and a record of their own. */
export interface SentBlock {
  /** Its name among the blocks of the conversation. */
  readonly number: number
  readonly sent: readonly Sent[]
}

/** Messages that follow each other, in the block of this number, or with the state. */
interface Run {
  readonly block: number | undefined
  readonly sent: readonly Sent[]
}

/**
 * The messages in runs: those of a block that is still whole, new blocks of messages that the relay has
 * accepted, and what is left.
 * @param blocks as they are stored
 */
export function runsOf(
  sent: readonly Sent[],
  blocks: readonly SentBlock[],
  { inBlock, withState }: BlockSizes = USUAL,
): readonly Run[] {
  const byFirst = new Map(blocks.map((block) => [block.sent[0], block]))
  const runs: Run[] = []
  const loose: Sent[] = []
  let last = Math.max(0, ...blocks.map(({ number }) => number))
  const endLoose = (): void => {
    while (loose.length >= inBlock + withState && loose.slice(0, inBlock).every(isSettled)) {
      last += 1
      runs.push({ block: last, sent: loose.splice(0, inBlock) })
    }
    if (loose.length > 0) runs.push({ block: undefined, sent: loose.splice(0) })
  }
  let at = 0
  for (const [i, each] of sent.entries()) {
    if (i < at) continue
    const block = byFirst.get(each)
    if (block?.sent.every((other, after) => other === sent[i + after])) {
      endLoose()
      runs.push({ block: block.number, sent: block.sent })
      at = i + block.sent.length
    } else loose.push(each)
  }
  endLoose()
  return runs
}

/** The blocks among the runs. */
export function blocksAmong(runs: readonly Run[]): readonly SentBlock[] {
  return runs.flatMap(({ block, sent }) => (block === undefined ? [] : [{ number: block, sent }]))
}

/** The messages that stay with the state, and the numbers of the blocks between them. */
export function writeRuns(to: ByteWriter, runs: readonly Run[]): void {
  to.list(runs, ({ block, sent }) => {
    to.optional(block, (number) => to.number(number))
    if (block === undefined) writeSentList(to, sent)
  })
}

/**
 * Reads what `writeRuns` wrote. Throws `CryptoError` `INVALID_ENCODING`.
 * @param stored the messages of the blocks. Those of a block that is not among them are lost
 */
export function readRuns(from: ByteReader, stored: ReadonlyMap<number, readonly Sent[]>): readonly Run[] {
  return from.list(() => {
    const block = from.optional(() => from.number())
    return { block, sent: block === undefined ? readSentList(from) : (stored.get(block) ?? []) }
  })
}

/** A block as bytes, with a version in front. */
export function encodeBlock({ sent }: SentBlock): Uint8Array {
  const to = new ByteWriter().number(VERSION)
  writeSentList(to, sent)
  return to.done()
}

/** The messages of `encodeBlock`. Throws `CryptoError` `INVALID_ENCODING`. */
export function decodeBlock(bytes: Uint8Array): readonly Sent[] {
  const from = new ByteReader(bytes)
  if (from.number() !== VERSION)
    throw new CryptoError('INVALID_ENCODING', 'this block of messages is of another version')
  const sent = readSentList(from)
  from.end()
  return sent
}

/** What is stored of it does not change any more. */
function isSettled({ isAccepted }: Sent): boolean {
  return isAccepted
}
