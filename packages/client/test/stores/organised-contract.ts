// The contract of a client's store for deleted messages, settings of conversations, and calls. A test suite
// that runs on every kind of store.
import { expect, test } from 'bun:test'
import type { CallRecord, ConversationSettings, StoreChange } from '../../src/stores/records.ts'
import type { ClientStore } from '../../src/stores/store.ts'
import {
  conversationId,
  messageOf,
  onBoth,
  otherConversationId,
  type StoreUnderTest,
  session,
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
    draftReplyToId: 'answered',
  }

  test('settings, calls and values of the application are found after the store is opened again, until everything is cleared', async () => {
    const { store, reopen } = await open()
    expect([await store.listSettings(), await store.listCalls()]).toEqual([[], []])
    const call = callOf({ id: 'call', durationMs: 4 })
    await store.write([
      { change: 'settings', settings: { ...settings, name: 'Al' } },
      { change: 'settings', settings: { conversationId: otherConversationId, pinned: 2 } },
      { change: 'settings', settings },
      { change: 'call_logged', call },
      { change: 'app_data', record: { name: 'draft/2', value: 'two' } },
      { change: 'app_data', record: { name: 'draft/1', value: 'on' } },
      { change: 'app_data', record: { name: 'draft/1', value: 'one' } },
      { change: 'app_data', record: { name: 'draft/3', value: 'three' } },
      { change: 'app_data', record: { name: 'other', value: 'of no draft' } },
      { change: 'app_data_removed', name: 'draft/3' },
    ])
    const again = await reopen()
    const found = await again.listSettings()
    expect(found).toHaveLength(2)
    expect(found).toContainEqual(settings)
    expect(await again.listCalls()).toEqual([call])
    expect(await again.listAppData()).toHaveLength(3)
    expect(await again.listAppData()).toContainEqual({ name: 'draft/1', value: 'one' })
    expect(await again.listAppData()).toContainEqual({ name: 'draft/2', value: 'two' })
    await again.write([{ change: 'clear' }])
    expect([await again.listSettings(), await again.listCalls()]).toEqual([[], []])
    expect(await again.listAppData()).toEqual([])
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

  test('what the contact wrote after the read mark is counted', async () => {
    const { store, reopen } = await open()
    const count = async (from: ClientStore, readSeq: number) => {
      await from.write([{ change: 'read_mark', mark: { conversationId, readSeq, toldSeq: 0 } }])
      const [summary] = await from.listSummaries([conversationId])
      return [summary?.unread, summary?.firstUnreadSeq]
    }
    expect(await count(store, 0)).toEqual([0, undefined])
    await store.write(
      [1, 2, 4, 5, 6].map((seq) => ({ change: 'message', message: messageOf({ id: `${seq}`, seq }) })),
    )
    const others = [
      messageOf({ id: 'mine', isMe: true, status: 'sent', seq: 3 }),
      messageOf({ id: 'waiting', isMe: true, status: 'sending' }),
      messageOf({ id: 'elsewhere', seq: 7, conversationId: otherConversationId }),
    ]
    await store.write(others.map((message) => ({ change: 'message', message })))
    await onBoth({ store, reopen }, async (opened) => {
      expect(await count(opened, 0)).toEqual([5, 1])
      expect(await count(opened, 2)).toEqual([3, 4])
      expect(await count(opened, 6)).toEqual([0, undefined])
    })
  })

  test('the latest message is the last of a part of one, also after a message was removed', async () => {
    const { store, reopen } = await open()
    const latest = async (from: ClientStore, contact: string) =>
      (await from.listMessages(contact, { limit: 1 })).map(({ id }) => id)
    expect(await latest(store, conversationId)).toEqual([])
    const others = [
      messageOf({ id: 'first', seq: 1 }),
      messageOf({ id: 'third', seq: 3 }),
      messageOf({ id: 'second', seq: 2 }),
      messageOf({ id: 'removed', seq: 4 }),
      messageOf({ id: 'elsewhere', seq: 7, conversationId: otherConversationId }),
      messageOf({ id: 'waiting', isMe: true, status: 'sending', conversationId: otherConversationId }),
    ]
    await store.write(others.map((message) => ({ change: 'message', message })))
    await store.write([{ change: 'message_removed', conversationId, isMe: false, id: 'removed' }])
    await onBoth({ store, reopen }, async (opened) => {
      expect(await latest(opened, conversationId)).toEqual(['third'])
      expect((await latest(opened, otherConversationId)).at(-1)).toBe('waiting')
    })
  })

  test('a message that is retracted or removed is not counted any more', async () => {
    const { store, reopen } = await open()
    for (const seq of [1, 2, 3])
      await store.write([
        { change: 'message', message: messageOf({ id: `${seq}`, seq }) },
        { change: 'message', message: messageOf({ id: `${seq}`, seq, conversationId: otherConversationId }) },
      ])
    await store.write([
      { change: 'message_patch', conversationId, isMe: false, id: '1', patch: { text: '', retracted: true } },
      { change: 'message_removed', conversationId, isMe: false, id: '2' },
      { change: 'messages_removed', conversationId: otherConversationId },
    ])
    await onBoth({ store, reopen }, async (opened) => {
      expect(await opened.listSummaries([conversationId, otherConversationId])).toMatchObject([
        { unread: 1, firstUnreadSeq: 3 },
        { unread: 0 },
      ])
    })
  })

  test('what a list shows follows every change, whether few or many are read', async () => {
    const { store, reopen } = await open()
    const ids = [conversationId, otherConversationId]
    const changes: StoreChange[][] = ids.map((id) => [
      { change: 'session', session: { ...session, conversationId: id } },
    ])
    for (const id of ids)
      changes.push(
        [{ change: 'message', message: messageOf({ id: 'a', seq: 1, conversationId: id }) }],
        [
          { change: 'message', message: messageOf({ id: 'c', seq: 3, conversationId: id }) },
          { change: 'message', message: messageOf({ id: 'b', seq: 2, conversationId: id }) },
        ],
        [{ change: 'trust', conversationId: id, trust: { status: 'unverified', renewedAt: 4 } }],
        [{ change: 'read_mark', mark: { conversationId: id, readSeq: 1, toldSeq: 0 } }],
        [{ change: 'message_removed', conversationId: id, isMe: false, id: 'c' }],
        [
          {
            change: 'message',
            message: messageOf({ id: 'd', isMe: true, status: 'sending', conversationId: id }),
          },
        ],
        [
          {
            change: 'message_patch',
            conversationId: id,
            isMe: true,
            id: 'd',
            patch: { seq: 4, status: 'sent' },
          },
        ],
        [
          {
            change: 'message_patch',
            conversationId: id,
            isMe: false,
            id: 'b',
            patch: { text: '', retracted: true },
          },
        ],
      )
    changes.push([{ change: 'messages_removed', conversationId }])
    const expected = async (from: ClientStore, id: typeof conversationId) => {
      const marks = await from.listReadMarks()
      const readSeq = marks.find((mark) => mark.conversationId === id)?.readSeq ?? 0
      const messages = await from.listMessages(id)
      const unread = messages.filter(({ isMe, retracted, seq = 0 }) => !isMe && !retracted && seq > readSeq)
      return {
        conversationId: id,
        lastMessage: messages.at(-1),
        unread: unread.length,
        ...(unread[0]?.seq && { firstUnreadSeq: unread[0].seq }),
        trust: await from.getTrust(id),
      }
    }
    const follows = async (from: ClientStore) => {
      const summaries = await Promise.all(ids.map((id) => expected(from, id)))
      expect(await from.listSummaries(ids)).toEqual(summaries)
      // So many that they are read in another way.
      const many = Array.from({ length: 40 }, () => ids).flat()
      const expectedOfMany = many.map((id) => summaries[ids.indexOf(id)] as never)
      expect(await from.listSummaries(many)).toEqual(expectedOfMany)
      // A store may have kept them then.
      expect(await from.listSummaries(many)).toEqual(expectedOfMany)
    }
    for (const written of changes) {
      await store.write(written)
      await follows(store)
    }
    const again = await reopen()
    await follows(again)
    await again.write([
      { change: 'message', message: messageOf({ id: 'e', seq: 5 }) },
      { change: 'clear' },
      { change: 'session', session },
    ])
    await follows(again)
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
