// Own messages without an acknowledgement as bytes. There may be thousands of them, and they are written with
// each step, so each says only how it differs from the one before it.
import { bytesToHex, hexToBytes } from '@sotto/crypto'
import { type ByteReader, ByteWriter } from '@sotto/crypto/version-3'
import type { Sent } from './course.ts'

// What the first number of a message says.
const IS_UUID = 1
const RESENDS = 2
const HAS_PREVIOUS = 4
const IS_ACCEPTED = 8
const IS_HIDDEN = 16
/** It has the next number, in the era and epoch of the message before it. */
const FOLLOWS = 32
/** It is older than the message before it. */
const IS_OLDER = 64

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const UUID_BYTES = 16
const DASHES_AT = [8, 12, 16, 20]

type Place = Pick<Sent, 'number' | 'era' | 'epoch' | 'at'>

const FIRST: Place = { number: 0, era: 0, epoch: 0, at: 0 }

/** What of a message does not depend on the one before it. Messages stay, so it is encoded once. */
const ownParts = new WeakMap<Sent, Uint8Array>()

/** Writes the messages, in the order of their encryption. */
export function writeSentList(to: ByteWriter, list: readonly Sent[]): void {
  let before = FIRST
  to.list(list, (sent) => {
    writeSent(to, sent, before)
    before = sent
  })
}

/** Reads what `writeSentList` wrote. Throws `CryptoError` `INVALID_ENCODING`. */
export function readSentList(from: ByteReader): readonly Sent[] {
  let before = FIRST
  return from.list(() => {
    const sent = readSent(from, before)
    before = sent
    return sent
  })
}

function writeSent(to: ByteWriter, sent: Sent, before: Place): void {
  const { number, era, epoch, at } = sent
  const follows = number === before.number + 1 && era === before.era && epoch === before.epoch
  const isOlder = at < before.at
  to.number(
    (UUID.test(sent.id) ? IS_UUID : 0) +
      (sent.resends === undefined ? 0 : RESENDS) +
      (sent.previous ? HAS_PREVIOUS : 0) +
      (sent.isAccepted ? IS_ACCEPTED : 0) +
      (sent.isHidden ? IS_HIDDEN : 0) +
      (follows ? FOLLOWS : 0) +
      (isOlder ? IS_OLDER : 0),
  )
  if (!follows) to.number(number).number(era).number(epoch)
  to.number(Math.abs(at - before.at))
  const own = ownParts.get(sent) ?? ownPartOf(sent)
  ownParts.set(sent, own)
  to.fixed(own)
}

function ownPartOf({ id, resends, mark, previous }: Sent): Uint8Array {
  const to = new ByteWriter()
  if (UUID.test(id)) to.fixed(hexToBytes(id.replaceAll('-', '')))
  else to.text(id)
  if (resends !== undefined) to.text(resends)
  to.bytes(mark)
  if (previous) to.bytes(previous)
  return to.done()
}

function readSent(from: ByteReader, before: Place): Sent {
  const says = from.number()
  const has = (what: number): boolean => (says & what) !== 0
  const place = has(FOLLOWS)
    ? { number: before.number + 1, era: before.era, epoch: before.epoch }
    : { number: from.number(), era: from.number(), epoch: from.number() }
  const apart = from.number()
  return {
    ...place,
    at: before.at + (has(IS_OLDER) ? -apart : apart),
    id: has(IS_UUID) ? uuidOf(from.fixed(UUID_BYTES)) : from.text(),
    resends: has(RESENDS) ? from.text() : undefined,
    mark: from.bytes(),
    previous: has(HAS_PREVIOUS) ? from.bytes() : undefined,
    isAccepted: has(IS_ACCEPTED),
    isHidden: has(IS_HIDDEN),
  }
}

function uuidOf(bytes: Uint8Array): string {
  const hex = bytesToHex(bytes)
  return [0, ...DASHES_AT].map((at, i) => hex.slice(at, DASHES_AT[i])).join('-')
}
