// What the tests of deliveries to one connection share: a mailbox in memory, and a peer.
import { ConversationId, check } from '@sotto/protocol'
import {
  ConnectionDelivery,
  type DeliveredConnection,
  type DeliveryReader,
} from '../src/messages/connection-delivery.ts'
import type { WaitingFrame, WaitingReceipts } from '../src/messages/mailbox-reader.ts'
import { createLog } from '../src/operations/log.ts'
import type { AccountId } from '../src/storage/storage.ts'

/** How many bytes a peer may have to receive before the delivery waits. */
export const WINDOW_BYTES = 40
const account = 1 as AccountId
const SENDER = 2 as AccountId
const CONVERSATION = check(ConversationId, crypto.randomUUID())

interface Notice {
  readonly id: number
  readonly frame: string
}

/**
 * A mailbox in memory and its delivery to a peer. The test decides when each query is answered, and lets time
 * pass.
 */
export function openDelivery(unlistedSeconds = 30) {
  const rows: WaitingFrame[] = []
  const notices: Notice[] = []
  const receipts: WaitingReceipts[] = []
  const sent: string[] = []
  let lastPosition = 0
  let buffered = 0
  let mostAhead = 0
  let isFailing = false
  const queries: (() => void)[] = []
  const lateRings: ReturnType<typeof store>[] = []
  /** When the friendship of a conversation was accepted that no friend list has named yet. */
  const unlisted = new Map<ConversationId, number>()
  /** The conversations whose other account is suspended. */
  const suspended = new Set<ConversationId>()
  /** The positions of messages of `crypto_v` 3. */
  const ofVersion3 = new Set<number>()
  const timers = new Set<{ readonly at: number; readonly run: () => void }>()
  let now = 1_000_000

  // A query returns what was stored when it began.
  const query = async <T>(find: () => T): Promise<T> => {
    const found = find()
    const fails = isFailing
    await new Promise<void>((resolve) => queries.push(resolve))
    if (fails) throw new Error('the store does not answer')
    return found
  }
  const asRead = (found: readonly WaitingFrame[]): WaitingFrame[] =>
    found.map((row) => {
      const first = rows.find(({ convId, position }) => convId === row.convId && ofVersion3.has(position))
      const read = { ...row, unlistedSince: unlisted.get(row.convId) ?? 0, firstOfVersion3: first?.seq }
      return suspended.has(row.convId) && !row.isRetraction ? { ...read, withheldFrom: SENDER } : read
    })
  const reader: DeliveryReader = {
    lastPosition: () => query(() => lastPosition),
    read: (_account, after, most) =>
      query(() => asRead(rows.filter(({ position }) => position > after).slice(0, most))),
    readConversation: (_account, { convId, afterSeq, upToPosition }, most) =>
      query(() => {
        const isPart = (row: WaitingFrame): boolean =>
          row.convId === convId && row.seq > afterSeq && row.position <= upToPosition
        return asRead(rows.filter(isPart).slice(0, most))
      }),
    readReceipts: () => query(() => receipts),
    readNotices: (_account, after, most) =>
      query(() => notices.filter(({ id }) => id > after).slice(0, most)),
  }
  const closes: string[] = []
  const connection: DeliveredConnection = {
    account,
    epoch: undefined,
    untilEpoch: undefined,
    get bufferedBytes() {
      return buffered
    },
    send: (frame) => {
      sent.push(frame)
      if (isMessage(frame)) mostAhead = Math.max(mostAhead, buffered)
      buffered += frame.length
    },
    sendAll: (frames) => {
      for (const frame of frames) connection.send(frame)
    },
    flush: () => undefined,
    ping: () => undefined,
    close: (reason) => {
      closes.push(reason)
    },
  }
  const delivery = new ConnectionDelivery(connection, {
    ...{
      reader,
      limits: { windowBytes: WINDOW_BYTES, unlistedSeconds, listedSeconds: 1 },
      log: createLog('silent'),
      incarnation: 'one',
    },
    clock: { now: () => now, monotonic: () => now },
    after: (ms, run) => {
      const timer = { at: now + ms, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
  })
  const store = (count: number, convId = CONVERSATION, version: 1 | 3 = 1) => {
    const firstPosition = lastPosition + 1
    const added = Array.from({ length: count }, (_, i) => {
      const position = firstPosition + i
      const isRetraction = position % 5 === 0
      if (version === 3 && !isRetraction) ofVersion3.add(position)
      const row = { position, seq: position, convId, unlistedSince: 0, withheldFrom: undefined }
      return { ...row, firstOfVersion3: undefined, isRetraction, frame: `m${position}` }
    })
    rows.push(...added)
    lastPosition += count
    const frames = added.map(({ frame }) => frame)
    const bytes = frames.join('').length
    const hasRetractions = added.some(({ isRetraction }) => isRetraction)
    const ring = { kind: 'mailbox', firstPosition, lastPosition, frames, bytes } as const
    const hasVersion3 = added.some(({ position }) => ofVersion3.has(position))
    return { ...ring, convIds: [convId], hasRetractions, hasUnlisted: unlisted.has(convId), hasVersion3 }
  }
  return {
    delivery,
    receipts,
    sent,
    closes,
    store,
    /** Rings that arrive after their messages can already be read. */
    lateRings,
    /** The most bytes that were buffered when a message was sent. */
    mostAhead: () => mostAhead,
    /** Deletes a row, as a confirmation or expiry does. Its position stays assigned. */
    erase: (position: number): void => {
      const index = rows.findIndex((row) => row.position === position)
      if (index >= 0) rows.splice(index, 1)
    },
    waiting: (): string[] => rows.map(({ frame }) => frame),
    addNotice: (): Notice => {
      const notice = { id: notices.length + 1, frame: `n${notices.length + 1}` }
      notices.push(notice)
      return notice
    },
    rows: rows as readonly WaitingFrame[],
    unlisted,
    suspended,
    ofVersion3: ofVersion3 as ReadonlySet<number>,
    now: () => now,
    /** Lets time pass and runs the timers that end meanwhile. */
    pass: (ms: number): void => {
      now += ms
      for (const timer of timers) if (timer.at <= now && timers.delete(timer)) timer.run()
    },
    /** The peer receives everything that was buffered. */
    drain: (): void => {
      buffered = 0
      delivery.drained()
    },
    fail: (): void => {
      isFailing = true
    },
    /** Answers the store's next query, and lets the delivery continue to the one after it. */
    answer: async (): Promise<void> => {
      queries.shift()?.()
      await new Promise((resolve) => setImmediate(resolve))
    },
    /** Answers every query and lets the peer receive everything, until nothing is left to do. */
    settle: async (): Promise<void> => {
      for (let idle = 0; idle < 2; idle = queries.length > 0 ? 0 : idle + 1) {
        queries.shift()?.()
        buffered = 0
        delivery.drained()
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}

/** See {@link openDelivery}. */
export type DeliveryWorld = ReturnType<typeof openDelivery>

/** Whether a frame that was sent is a stored one, and its position; whether it is a `sync_end`. */
export const isMessage = (frame: string): boolean => frame.startsWith('m')
export const isEnd = (frame: string): boolean => frame.includes('sync_end')
export const numberOf = (frame: string): number => Number(frame.slice(1))
