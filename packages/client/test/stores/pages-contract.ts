// How a conversation is read in pages, as a part of the contract of a store.
import { expect, test } from 'bun:test'
import { listMessages } from '../../src/messages/conversations.ts'
import type { StoreChange } from '../../src/stores/records.ts'
import type { ClientStore, MessageRange, MessagesAround } from '../../src/stores/store.ts'
import {
  conversationId,
  messageOf,
  onBoth,
  otherConversationId,
  type StoreUnderTest,
} from './store-contract.ts'

/** Declares the test suite. `open` opens an empty store. */
export function pagesContract(open: () => Promise<StoreUnderTest>): void {
  test('messages are listed in the order of seq, and messages without seq come last', async () => {
    const { store } = await open()
    await store.write([
      { change: 'message', message: messageOf({ id: 'unsent2', isMe: true, status: 'sending', time: 2 }) },
      { change: 'message', message: messageOf({ id: 'c', seq: 3 }) },
      { change: 'message', message: messageOf({ id: 'a', seq: 1 }) },
      { change: 'message', message: messageOf({ id: 'unsent1', isMe: true, status: 'sending', time: 1 }) },
      { change: 'message', message: messageOf({ id: 'b', seq: 2, isMe: true, status: 'sent' }) },
      { change: 'message', message: messageOf({ id: 'other', seq: 1, conversationId: otherConversationId }) },
    ])
    const ids = async (...range: Parameters<ClientStore['listMessages']>) =>
      (await store.listMessages(...range)).map(({ id }) => id)
    expect(await ids(conversationId)).toEqual(['a', 'b', 'c', 'unsent1', 'unsent2'])
    expect(await ids(conversationId, { limit: 1 })).toEqual(['c', 'unsent1', 'unsent2'])
    expect(await ids(conversationId, { beforeSeq: 3 })).toEqual(['a', 'b'])
    expect(await ids(conversationId, { beforeSeq: 3, limit: 1 })).toEqual(['b'])
    expect(await ids(conversationId, { afterSeq: 2 })).toEqual(['c', 'unsent1', 'unsent2'])
    expect(await store.latestPeerSeq(conversationId)).toBe(3)
  })

  test('a conversation is read in pages from both ends, and around a message', async () => {
    const { store, reopen } = await open()
    const unsent = (id: string) => messageOf({ id, isMe: true, status: 'sending', time: 1 })
    await store.write([
      ...['1', '2', '3', '5', '6'].map(
        (id) => ({ change: 'message', message: messageOf({ id, seq: Number(id) }) }) as const,
      ),
      ...['x', 'y', 'z'].map((id) => ({ change: 'message', message: unsent(id) }) as const),
      { change: 'message', message: messageOf({ id: 'o', seq: 4, conversationId: otherConversationId }) },
    ])
    await onBoth({ store, reopen }, async (opened) => {
      const ids = async (part: MessageRange | MessagesAround) =>
        (await listMessages(opened, conversationId, part)).map(({ id }) => id).join('')
      const latest: MessageRange[] = [
        { limit: 2 },
        { limit: 2, beforeSeq: 5 },
        { limit: 2, beforeSeq: 2 },
        { limit: 2, beforeSeq: 1 },
        { limit: 2, afterSeq: 3 },
        { limit: 9, afterSeq: 1, beforeSeq: 6 },
        { afterSeq: 5, beforeSeq: 2 },
        { limit: 0 },
      ]
      expect(await Promise.all(latest.map(ids))).toEqual(['56xyz', '23', '1', '', '56xyz', '235', '', 'xyz'])
      const earliest: MessageRange[] = [
        { limit: 2 },
        { limit: 2, afterSeq: 2 },
        { limit: 2, afterSeq: 3 },
        { limit: 2, afterSeq: 6 },
        { limit: 2, afterSeq: 1, beforeSeq: 5 },
        { limit: 1, afterSeq: 1, beforeSeq: 5 },
        { limit: 0 },
        {},
      ]
      expect(await Promise.all(earliest.map((range) => ids({ ...range, take: 'earliest' })))).toEqual([
        '12',
        '35',
        '56xyz',
        'xyz',
        '23',
        '2',
        '',
        '12356xyz',
      ])
      const around: MessagesAround[] = [
        { aroundSeq: 3, limit: 1 },
        { aroundSeq: 4, limit: 1 },
        { aroundSeq: 1, limit: 2 },
        { aroundSeq: 6, limit: 2 },
        { aroundSeq: 5, limit: 0 },
      ]
      expect(await Promise.all(around.map(ids))).toEqual(['235', '356xyz', '123', '356xyz', '5'])
    })
  })

  test('a list stays sorted, with each message once, whatever is written after it was read', async () => {
    const { store } = await open()
    const ids = async () => (await store.listMessages(conversationId)).map(({ id }) => id).join('')
    const write = (id: string, seq: number) =>
      store.write([{ change: 'message', message: messageOf({ id, seq }) }])
    const lists: string[] = []
    for (const [id, seq] of [
      ...([
        ['c', 3],
        ['e', 5],
        ['a', 1],
        ['e', 5],
        ['d', 4],
        ['c', 3],
      ] as const),
    ]) {
      await write(id, seq)
      lists.push(await ids())
    }
    expect(lists).toEqual(['c', 'ce', 'ace', 'ace', 'acde', 'acde'])
  })

  test('messages with the same seq are on one page, so that none is hidden', async () => {
    const { store, reopen } = await open()
    const seqs = { a: 1, b: 2, c: 2, d: 2, e: 3, f: 4, g: 4 }
    await store.write([
      ...Object.entries(seqs).map(([id, seq], at): StoreChange => {
        return { change: 'message', message: messageOf({ id, seq, isMe: at % 2 === 0, time: at }) }
      }),
      { change: 'message', message: messageOf({ id: 'x', isMe: true, status: 'sending' }) },
    ])
    await onBoth({ store, reopen }, async (opened) => {
      const ids = async (range: MessageRange) =>
        (await opened.listMessages(conversationId, range)).map(({ id }) => id).join('')
      const latest: MessageRange[] = [
        { limit: 1 },
        { limit: 2 },
        { limit: 3 },
        { limit: 1, beforeSeq: 3 },
        { limit: 2, beforeSeq: 3 },
        { limit: 4, beforeSeq: 3 },
        { limit: 2, afterSeq: 1, beforeSeq: 3 },
        { limit: 0, beforeSeq: 3 },
        { limit: 0 },
      ]
      expect(await Promise.all(latest.map(ids))).toEqual([
        ...['fgx', 'fgx', 'efgx', 'bcd', 'bcd', 'abcd', 'bcd', '', 'x'],
      ])
      const earliest: MessageRange[] = [
        { limit: 1 },
        { limit: 2 },
        { limit: 3 },
        { limit: 5 },
        { limit: 6 },
        { limit: 1, afterSeq: 1 },
        { limit: 1, afterSeq: 1, beforeSeq: 3 },
        { limit: 0, afterSeq: 1 },
      ]
      expect(await Promise.all(earliest.map((range) => ids({ ...range, take: 'earliest' })))).toEqual([
        ...['a', 'abcd', 'abcd', 'abcde', 'abcdefgx', 'bcd', 'bcd', ''],
      ])
      for (const limit of [1, 2, 3]) expect(await pagesOf(opened, limit)).toBe('abcdefgx')
    })
  })
}

/** All messages of a conversation, read in pages from the end. */
async function pagesOf(store: ClientStore, limit: number): Promise<string> {
  let all = (await store.listMessages(conversationId, { limit: 0 })).map(({ id }) => id).join('')
  for (let beforeSeq = Number.MAX_SAFE_INTEGER; ; ) {
    const page = await store.listMessages(conversationId, { beforeSeq, limit })
    const first = page[0]?.seq
    if (first === undefined) return all
    all = page.map(({ id }) => id).join('') + all
    beforeSeq = first
  }
}
