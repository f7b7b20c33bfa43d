// The seqs of a sender's messages in a conversation that the other side has not read and that are neither
// retracted nor expired, rising, as text: `7,9,12`. The last one is what a mark must cover to be true of all
// of the sender's messages. If the text becomes long, its older half is replaced by one bound: `<9,12` stands
// for unknown messages up to 9. Such a bound stays until a read mark covers it.

/** Bounds the text, because every message of the conversation rewrites it. */
const MOST_CHARACTERS = 120
const BOUND = '<'

/** The text after a message was sent. */
export function withSeq(unread: string, seq: number): string {
  if (unread === '') return String(seq)
  const longer = `${unread},${seq}`
  return longer.length <= MOST_CHARACTERS ? longer : shortened(longer)
}

/** The text after a message was retracted or expired. */
export function withoutSeqs(unread: string, seqs: readonly number[]): string {
  if (unread === '') return unread
  const gone = new Set(seqs.map(String))
  return itemsOf(unread)
    .filter((item) => !gone.has(item))
    .join(',')
}

/** The text after everything up to a seq was read. */
export function afterReading(unread: string, readSeq: number): string {
  if (readSeq >= lastUnread(unread)) return ''
  return itemsOf(unread)
    .filter((item) => numberOf(item) > readSeq)
    .join(',')
}

/** The last seq of the text. 0 if every message is read, retracted or expired. */
export function lastUnread(unread: string): number {
  return unread === '' ? 0 : numberOf(unread.slice(unread.lastIndexOf(',') + 1))
}

function shortened(unread: string): string {
  const items = itemsOf(unread)
  const newest = items.slice(Math.ceil(items.length / 2))
  const bound = numberOf(items[items.length - newest.length - 1] ?? '')
  return [`${BOUND}${bound}`, ...newest].join(',')
}

function itemsOf(unread: string): string[] {
  return unread.split(',')
}

function numberOf(item: string): number {
  return Number(item.startsWith(BOUND) ? item.slice(BOUND.length) : item)
}
