// The contract of a client's store for deleted messages, settings of conversations, and calls. A test suite
// that runs on every kind of store.
import { expect, test } from 'bun:test'
import type { CallRecord, ConversationSettings, StoreChange } from '../../src/stores/records.ts'
import {
  conversationId,
  messageOf,
  onBoth,
  otherConversationId,
  type StoreUnderTest,
} from './store-contract.ts'

/** A call for tests. */
function callOf(fields: Partial<CallRecord> & { readonly id: string }): CallRecord {
  const call = {
    conversationId,
    isCaller: false,
    startedAt: 1,
    end: 'unanswered',
    missed: true,
  }
  return { ...call, ...fields }
}

/** Declares the test suite. `open` opens an empty store. */
export function organisedContract(open: () => Promise<StoreUnderTest>): void {
  const settings: ConversationSettings = {
    conversationId,
    name: 'Ali',
    pinned: 1,
    mutedUntil: 5,
    archived: true,
    draft: 'dear',
  }

  test('settings and calls are found after the store is opened again, until everything is cleared', async () => {
    const { store, reopen } = await open()
    expect([await store.listSettings(), await store.listCalls()]).toEqual([[], []])
    const call = callOf({ id: 'call', durationMs: 4 })
    await store.write([
      { change: 'settings', settings: { ...settings, name: 'Al' } },
      { change: 'settings', settings: { conversationId: otherConversationId, pinned: 2 } },
      { change: 'settings', settings },
      { change: 'call_logged', call },
    ])
    const again = await reopen()
    const found = await again.listSettings()
    expect(found).toHaveLength(2)
    expect(found).toContainEqual(settings)
    expect(await again.listCalls()).toEqual([call])
    await again.write([{ change: 'clear' }])
    expect([await again.listSettings(), await again.listCalls()]).toEqual([[], []])
  })

  const removed = { text: '', time: 0, removed: true } as const

  test('a removed message is in no list, and is still recognised by id, seq and nonce', async () => {
    const { store, reopen } = await open()
    const secret = { text: '[file]m_key|plan.pdf|9', mediaUrl: 'm_key', caption: 'plan.pdf' }
    await store.write([
      {
        change: 'message',
        message: messageOf({ id: 'a', seq: 1, nonce: 'theirs', replyToId: 'x', ...secret }),
      },
      {
        change: 'message',
        message: messageOf({ id: 'b', seq: 2, isMe: true, status: 'sent', nonce: 'mine' }),
      },
      { change: 'message', message: messageOf({ id: 'c', seq: 3 }) },
      { change: 'message', message: messageOf({ id: 'd', isMe: true, status: 'sending' }) },
    ])
    for (const [id, isMe] of [
      ['a', false],
      ['b', true],
      ['d', true],
      ['none', true],
    ] as const)
      await store.write([{ change: 'message_removed', conversationId, isMe, id }])
    await onBoth({ store, reopen }, async (opened) => {
      expect((await opened.listMessages(conversationId)).map(({ id }) => id)).toEqual(['c'])
      expect(await opened.listMessages(conversationId, { beforeSeq: 3 })).toEqual([])
      expect(await opened.listOwnMessages(conversationId, 9, ['sent', 'sending'])).toEqual([])
      const tombstone = { id: 'a', conversationId, isMe: false, status: 'delivered', seq: 1, nonce: 'theirs' }
      expect(await opened.findMessage(conversationId, false, 'a')).toEqual({
        ...tombstone,
        ...removed,
      } as never)
      expect(await opened.findMessageBySeq(conversationId, 2)).toMatchObject({ id: 'b', ...removed })
      expect(await opened.hasNonce(conversationId, 'theirs')).toBe(true)
      expect(await opened.hasNonce(conversationId, 'mine')).toBe(true)
      expect(await opened.findMessage(conversationId, true, 'none')).toBeUndefined()
    })
  })

  test('all messages of a conversation are removed at once, and what comes later is listed', async () => {
    const { store, reopen } = await open()
    await store.write([
      { change: 'message', message: messageOf({ id: 'a', seq: 1 }) },
      { change: 'message', message: messageOf({ id: 'b', seq: 2 }) },
      { change: 'message', message: messageOf({ id: 'c', isMe: true, status: 'sending' }) },
      { change: 'message', message: messageOf({ id: 'other', seq: 1, conversationId: otherConversationId }) },
    ])
    await store.write([
      { change: 'messages_removed', conversationId },
      { change: 'message', message: messageOf({ id: 'later', seq: 3 }) },
    ])
    await onBoth({ store, reopen }, async (opened) => {
      expect((await opened.listMessages(conversationId)).map(({ id }) => id)).toEqual(['later'])
      expect((await opened.listMessages(otherConversationId)).map(({ id }) => id)).toEqual(['other'])
      expect(await opened.latestPeerSeq(conversationId)).toBe(3)
      expect(await opened.findMessageBySeq(conversationId, 2)).toMatchObject({ id: 'b', ...removed })
    })
  })

  test('a removed message does not come back, whatever is written about it', async () => {
    const { store, reopen } = await open()
    const late: StoreChange[] = [
      { change: 'message', message: messageOf({ id: 'a', seq: 1, text: 'again' }) },
      { change: 'message_patch', conversationId, isMe: false, id: 'a', patch: { text: 'again', time: 7 } },
    ]
    for (const change of late) {
      await store.write([{ change: 'message', message: messageOf({ id: 'a', seq: 1 }) }])
      await store.write([{ change: 'message_removed', conversationId, isMe: false, id: 'a' }])
      await store.write([change])
    }
    await onBoth({ store, reopen }, async (opened) => {
      expect(await opened.listMessages(conversationId)).toEqual([])
      expect(await opened.findMessage(conversationId, false, 'a')).toMatchObject(removed)
    })
  })

  test('calls are listed from the latest, and a removed one is gone', async () => {
    const { store, reopen } = await open()
    await store.write([
      { change: 'call_logged', call: callOf({ id: 'b', startedAt: 2 }) },
      { change: 'call_logged', call: callOf({ id: 'c', startedAt: 3 }) },
      { change: 'call_logged', call: callOf({ id: 'a', startedAt: 1 }) },
    ])
    await store.write([
      { change: 'call_removed', id: 'c' },
      { change: 'call_logged', call: callOf({ id: 'a', startedAt: 1, end: 'hung_up' }) },
    ])
    await onBoth({ store, reopen }, async (opened) =>
      expect((await opened.listCalls()).map(({ id, end }) => `${id} ${end}`)).toEqual([
        'b unanswered',
        'a hung_up',
      ]),
    )
  })
}
