// The contract of a client's store, as a test suite that runs on every kind of store.
import { expect, test } from 'bun:test'
import { AliasId, ConversationId, check, FriendProfile, PublicKey } from '@sotto/protocol'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import type {
  MessagePatch,
  OfflineMessage,
  OutboxIntent,
  SessionRecord,
  StoreChange,
  StoredIdentity,
  StoredMessage,
} from '../../src/stores/records.ts'
import { StoredIdentity as StoredIdentitySchema } from '../../src/stores/records.ts'
import type { ClientStore } from '../../src/stores/store.ts'

/** A store under test. `reopen` opens it again, as the next run of a program would. */
export interface StoreUnderTest {
  readonly store: ClientStore
  reopen(): Promise<ClientStore>
}

export const conversationId = check(ConversationId, '11111111-1111-4111-8111-111111111111')
export const otherConversationId = check(ConversationId, '22222222-2222-4222-8222-222222222222')
const alice = check(AliasId, 'alice')
const key = check(PublicKey, `${'A'.repeat(43)}=`)

export const identity: StoredIdentity = check(StoredIdentitySchema, {
  uuid: '33333333-3333-4333-8333-333333333333',
  aliasId: 'me_myself',
  nickname: 'Me',
  mnemonic: 'abandon abandon abandon',
  signingPublicKey: key,
  ecdhPublicKey: key,
})
export const session: SessionRecord = {
  conversationId,
  theirAliasId: alice,
  theirEcdhPublicKey: key,
  sessionKeyBase64: 'c2Vzc2lvbiBrZXkgb2YgdGhlIHRlc3RzLCAzMiBieXQ=',
  trustState: 'unverified',
  createdAt: 5,
}
export const friend = check(FriendProfile, {
  friendship_id: 1,
  alias_id: 'alice',
  nickname: 'Alice',
  status: 'accepted',
  direction: 'sent',
  conversation_id: conversationId,
  x25519_public_key: key,
  ed25519_public_key: key,
  created_at: '2026-01-01T00:00:00.000Z',
})

export const offline: OfflineMessage = {
  conversationId,
  seq: 9,
  payloadEncrypted: 'AAAA',
  createdAt: 3,
  id: 'o',
  fromAliasId: alice,
  cryptoVersion: 1,
}

export const retract = { messageId: 'r', conversationId, toAliasId: alice, addedAt: 2 }

/** A message for tests. It is from the peer unless `fields` says otherwise. */
export function messageOf(fields: Partial<StoredMessage> & { readonly id: string }): StoredMessage {
  return { conversationId, text: 'text', isMe: false, time: 1, status: 'delivered', ...fields }
}

export function intentOf(id: string): OutboxIntent {
  return {
    internalId: id,
    conversationId,
    toAliasId: alice,
    text: 'hello',
    addedAt: 1,
    payload: 'AAAA',
  }
}

/** Runs the checks on a store before and after it is opened again. */
export async function onBoth(
  { store, reopen }: StoreUnderTest,
  checks: (store: ClientStore) => Promise<void>,
) {
  await checks(store)
  await checks(await reopen())
}

/** Declares the test suite. `open` opens an empty store. */
export function storeContract(open: () => Promise<StoreUnderTest>): void {
  test('an empty store holds nothing', async () => {
    const { store } = await open()
    expect(await store.getIdentity()).toBeUndefined()
    expect(await store.listSessions()).toEqual([])
    expect(await store.getTrust(conversationId)).toEqual({ status: 'unverified' })
    expect(await store.listFriends()).toEqual([])
    expect(await store.listMessages(conversationId)).toEqual([])
    expect(await store.latestPeerSeq(conversationId)).toBe(0)
    expect(await store.listOutbox()).toEqual([])
    expect(await store.countOfflineMessages()).toBe(0)
  })

  test('everything that was written is found after the store is opened again', async () => {
    const { store, reopen } = await open()
    const trust = { status: 'verified', verifiedAt: 7, fingerprintSnapshot: 'ab' } as const
    const renewedId = check(ConversationId, '22222222-2222-4222-8222-222222222222')
    const renewed = { status: 'unverified', renewedAt: 8 } as const
    await store.write([
      { change: 'identity', identity },
      { change: 'session', session },
      { change: 'session', session: { ...session, conversationId: renewedId } },
      { change: 'trust', conversationId, trust },
      { change: 'trust', conversationId: renewedId, trust: renewed },
      { change: 'friends', friends: [friend] },
      { change: 'message', message: messageOf({ id: 'a', seq: 1, replyToId: 'x' }) },
      { change: 'outbox_added', intent: intentOf('b') },
      { change: 'retract_added', intent: retract },
      { change: 'offline_added', message: offline },
      { change: 'read_mark', mark: { conversationId, readSeq: 4, toldSeq: 3 } },
    ])
    const again = await reopen()
    expect(await again.getIdentity()).toEqual(identity)
    expect((await again.listSessions())[0]).toEqual(session)
    expect(await again.getTrust(conversationId)).toEqual(trust)
    expect(await again.getTrust(renewedId)).toEqual(renewed)
    expect(await again.listFriends()).toEqual([friend])
    expect(await again.listMessages(conversationId)).toEqual([messageOf({ id: 'a', seq: 1, replyToId: 'x' })])
    expect(await again.listOutbox()).toEqual([intentOf('b')])
    expect(await again.listRetractIntents()).toEqual([retract])
    expect(await again.listOfflineMessages()).toEqual([offline])
    expect(await again.findOfflineMessage(conversationId, 9)).toEqual(offline)
    expect(await again.countOfflineMessages()).toBe(1)
    expect(await again.listReadMarks()).toEqual([{ conversationId, readSeq: 4, toldSeq: 3 }])
  })

  test('secrets are kept by name until they are removed, and by `clear` all of them are', async () => {
    const { store, reopen } = await open()
    await store.write([
      { change: 'secret', name: 'a', value: 'first' },
      { change: 'secret', name: 'b', value: 'other' },
      { change: 'secret', name: 'keyring', value: 'keys' },
    ])
    await store.write([
      { change: 'secret', name: 'a', value: 'second' },
      { change: 'secret', name: 'b' },
    ])
    expect(await store.findSecret('a')).toBe('second')
    const again = await reopen()
    const names = ['a', 'b', 'keyring']
    expect(await Promise.all(names.map((name) => again.findSecret(name)))).toEqual([
      'second',
      undefined,
      'keys',
    ])
    await again.write([{ change: 'secrets_removed' }, { change: 'secret', name: 'b', value: 'new' }])
    expect(await Promise.all(names.map((name) => again.findSecret(name)))).toEqual([
      undefined,
      'new',
      undefined,
    ])
    await again.write([{ change: 'clear' }])
    expect(await again.findSecret('b')).toBeUndefined()
  })

  test('a read started after a write sees it before it resolves', async () => {
    const { store } = await open()
    const written = store.write([{ change: 'message', message: messageOf({ id: 'a', seq: 1 }) }])
    expect((await store.findMessageBySeq(conversationId, 1))?.id).toBe('a')
    await written
  })

  test('a patched message moves to its seq', async () => {
    const { store, reopen } = await open()
    await store.write([
      { change: 'message', message: messageOf({ id: 'mine', isMe: true, status: 'sending' }) },
    ])
    await store.write([{ change: 'message', message: messageOf({ id: 'theirs', seq: 2 }) }])
    await store.write([
      { change: 'message_patch', conversationId, isMe: true, id: 'mine', patch: { status: 'sent', seq: 1 } },
    ])
    await onBoth({ store, reopen }, async (opened) => {
      expect((await opened.listMessages(conversationId)).map(({ id }) => id)).toEqual(['mine', 'theirs'])
      expect(await opened.findMessageBySeq(conversationId, 1)).toMatchObject({ id: 'mine', status: 'sent' })
    })
  })

  test('an id that both sides used belongs to two messages', async () => {
    const { store } = await open()
    await store.write([
      {
        change: 'message',
        message: messageOf({ id: 'same', isMe: true, status: 'sent', seq: 1, text: 'mine' }),
      },
      { change: 'message', message: messageOf({ id: 'same', seq: 2, text: 'theirs' }) },
    ])
    expect((await store.findMessage(conversationId, true, 'same'))?.text).toBe('mine')
    expect((await store.findMessage(conversationId, false, 'same'))?.text).toBe('theirs')
  })

  test('a message keeps the details of its media, until it is retracted', async () => {
    const { store, reopen } = await open()
    const details: Partial<StoredMessage> = {
      ...{ mediaUrl: 'm_1', caption: 'secret', width: 4, height: 3, sizeBytes: 9 },
      ...{ thumbnail: 'data:image/jpeg;base64,/9j/', durationMs: 5, waveform: [0, 100] },
      msgType: 'image',
    }
    const message = messageOf({ id: 'a', seq: 1, text: '[img]m_1', ...details })
    const patch = { text: '', retracted: true } as const
    await store.write([
      { change: 'message', message },
      { change: 'message', message: { ...message, id: 'b', seq: 2 } },
      { change: 'message_patch', conversationId, isMe: false, id: 'a', patch: { status: 'read' } },
      { change: 'message_patch', conversationId, isMe: false, id: 'b', patch },
    ])
    await onBoth({ store, reopen }, async (opened) => {
      expect(await opened.findMessage(conversationId, false, 'a')).toEqual({ ...message, status: 'read' })
      expect(await opened.findMessage(conversationId, false, 'b')).toEqual(
        messageOf({ id: 'b', seq: 2, ...patch, msgType: 'image' }),
      )
    })
  })

  test('an edit and reactions are kept, and leave a message that is retracted for good', async () => {
    const { store, reopen } = await open()
    const patch = { text: 'better', editedAt: 5, reactions: [{ isMe: true, text: '👍', at: 7 }] }
    const patchOf = (id: string, each: MessagePatch): StoreChange => {
      return { change: 'message_patch', conversationId, isMe: false, id, patch: each }
    }
    const unknown = { msgType: 'unknown', content: 'AQID' } as const
    await store.write([
      { change: 'message', message: messageOf({ id: 'a', seq: 1, text: 'good' }) },
      { change: 'message', message: messageOf({ id: 'b', seq: 2, text: 'good', ...unknown }) },
      patchOf('a', patch),
      patchOf('b', patch),
    ])
    await store.write([patchOf('b', { text: '', retracted: true })])
    // What comes late does not bring it back.
    await store.write([patchOf('b', patch)])
    await onBoth({ store, reopen }, async (opened) => {
      expect(await opened.findMessage(conversationId, false, 'a')).toEqual(
        messageOf({ id: 'a', seq: 1, ...patch }),
      )
      expect(await opened.findMessage(conversationId, false, 'b')).toEqual(
        messageOf({ id: 'b', seq: 2, text: '', retracted: true, msgType: 'unknown' }),
      )
    })
  })

  test('what a hidden message is about stays with it', async () => {
    const { store, reopen } = await open()
    const about = { kind: 'edit', isMe: true, id: 'a' } as const
    const hidden = messageOf({ id: 'hidden', isMe: true, status: 'sending', text: '', removed: true, about })
    await store.write([{ change: 'message', message: hidden }])
    await store.write([
      {
        change: 'message_patch',
        conversationId,
        isMe: true,
        id: 'hidden',
        patch: { status: 'sent', seq: 4 },
      },
    ])
    await onBoth({ store, reopen }, async (opened) => {
      const found = await opened.findMessage(conversationId, true, 'hidden')
      expect(found).toMatchObject({ about, removed: true, status: 'sent', seq: 4 })
      expect(await opened.listMessages(conversationId)).toEqual([])
    })
  })

  test('the nonces of both sides’ messages are found, even after a message lost its text', async () => {
    const { store, reopen } = await open()
    await store.write([
      { change: 'message', message: messageOf({ id: 'a', seq: 1, nonce: 'theirs' }) },
      {
        change: 'message',
        message: messageOf({ id: 'b', seq: 2, isMe: true, status: 'sent', nonce: 'mine' }),
      },
      {
        change: 'message_patch',
        conversationId,
        isMe: false,
        id: 'a',
        patch: { text: '', retracted: true },
      },
    ])
    const again = await reopen()
    expect(await again.hasNonce(conversationId, 'theirs')).toBe(true)
    expect(await again.hasNonce(conversationId, 'mine')).toBe(true)
    expect(await again.hasNonce(conversationId, 'other')).toBe(false)
    expect(await again.hasNonce(otherConversationId, 'mine')).toBe(false)
  })

  test('a seq belongs to the first message that had it', async () => {
    const { store } = await open()
    await store.write([
      { change: 'message', message: messageOf({ id: 'mine', isMe: true, status: 'sending' }) },
    ])
    await store.write([{ change: 'message', message: messageOf({ id: 'theirs', seq: 1 }) }])
    await store.write([
      { change: 'message_patch', conversationId, isMe: true, id: 'mine', patch: { status: 'sent', seq: 1 } },
    ])
    expect((await store.findMessageBySeq(conversationId, 1))?.id).toBe('theirs')
  })

  test('a patch of a missing message does not create a message', async () => {
    const { store } = await open()
    await store.write([
      { change: 'message_patch', conversationId, isMe: true, id: 'none', patch: { status: 'sent', seq: 1 } },
    ])
    expect(await store.listMessages(conversationId)).toEqual([])
  })

  test('messages of the same time keep the order in which they were written', async () => {
    const { store } = await open()
    for (const id of ['z', 'y', 'a'])
      await store.write([{ change: 'message', message: messageOf({ id, isMe: true, status: 'sending' }) }])
    await store.write([
      { change: 'message_patch', conversationId, isMe: true, id: 'y', patch: { failure: 'x' } },
    ])
    expect((await store.listMessages(conversationId)).map(({ id }) => id)).toEqual(['z', 'y', 'a'])
  })

  test('a write stores the changes as they were at the call', async () => {
    const { store, reopen } = await open()
    const changes = [{ change: 'outbox_added' as const, intent: intentOf('a') }]
    const written = store.write(changes)
    changes.push({ change: 'outbox_added', intent: intentOf('b') })
    await written
    expect((await (await reopen()).listOutbox()).length).toBe(1)
  })

  test('own messages are found by status up to a seq', async () => {
    const { store } = await open()
    await store.write([
      { change: 'message', message: messageOf({ id: '1', isMe: true, status: 'read', seq: 1 }) },
      { change: 'message', message: messageOf({ id: '2', isMe: true, status: 'delivered', seq: 2 }) },
      { change: 'message', message: messageOf({ id: '3', isMe: true, status: 'sent', seq: 3 }) },
      { change: 'message', message: messageOf({ id: '4', status: 'delivered', seq: 4 }) },
      { change: 'message', message: messageOf({ id: '5', isMe: true, status: 'sent', seq: 5 }) },
    ])
    const ids = async (seq: number, ...statuses: StoredMessage['status'][]) =>
      (await store.listOwnMessages(conversationId, seq, statuses)).map(({ id }) => id)
    expect(await ids(2, 'sent')).toEqual([])
    expect(await ids(3, 'sent')).toEqual(['3'])
    expect(await ids(4, 'sent')).toEqual(['3'])
    expect(await ids(9, 'sent', 'delivered')).toEqual(['2', '3', '5'])
    expect(await ids(9, 'read')).toEqual(['1'])
  })

  test('sessions keep the order in which they were first added', async () => {
    const { store, reopen } = await open()
    const other = { ...session, conversationId: otherConversationId }
    await store.write([
      { change: 'session', session: other },
      { change: 'session', session },
    ])
    await store.write([{ change: 'session', session: { ...other, createdAt: 9 } }])
    await onBoth({ store, reopen }, async (opened) =>
      expect((await opened.listSessions()).map(({ createdAt }) => createdAt)).toEqual([9, 5]),
    )
  })

  test('the outbox keeps its order after removals, and after the store is opened again', async () => {
    const { store, reopen } = await open()
    for (const id of ['a', 'b', 'c', 'd'])
      await store.write([{ change: 'outbox_added', intent: intentOf(id) }])
    await store.write([{ change: 'outbox_removed', internalId: 'b' }])
    expect((await (await reopen()).listOutbox()).map(({ internalId }) => internalId)).toEqual(['a', 'c', 'd'])
  })

  test('removed records stay removed after the store is opened again', async () => {
    const { store, reopen } = await open()
    await store.write([
      { change: 'session', session },
      { change: 'offline_added', message: offline },
      { change: 'retract_added', intent: retract },
    ])
    await store.write([
      { change: 'session_removed', conversationId },
      { change: 'offline_removed', conversationId, seq: 9 },
      { change: 'retract_removed', conversationId, messageId: 'r' },
    ])
    const again = await reopen()
    expect(await again.listSessions()).toEqual([])
    expect(await again.listOfflineMessages(conversationId)).toEqual([])
    expect(await again.listRetractIntents()).toEqual([])
  })

  test('clear removes everything written before it and nothing written after it', async () => {
    const { store, reopen } = await open()
    const trust = { status: 'verified', verifiedAt: 7, fingerprintSnapshot: 'ab' } as const
    await store.write([
      { change: 'identity', identity },
      { change: 'session', session },
      { change: 'trust', conversationId, trust },
      { change: 'friends', friends: [friend] },
      { change: 'message', message: messageOf({ id: 'a', seq: 1, nonce: 'n' }) },
      { change: 'outbox_added', intent: intentOf('b') },
      { change: 'retract_added', intent: retract },
      { change: 'offline_added', message: offline },
      { change: 'read_mark', mark: { conversationId, readSeq: 4, toldSeq: 3 } },
    ])
    await store.write([
      { change: 'clear' },
      { change: 'identity', identity: { ...identity, nickname: 'Other' } },
    ])
    await onBoth({ store, reopen }, async (opened) => {
      expect((await opened.getIdentity())?.nickname).toBe('Other')
      expect(await opened.getTrust(conversationId)).toEqual({ status: 'unverified' })
      const lists = [
        ...[opened.listSessions(), opened.listFriends(), opened.listMessages(conversationId)],
        ...[opened.listOutbox(), opened.listRetractIntents(), opened.listOfflineMessages()],
        opened.listReadMarks(),
      ]
      expect(await Promise.all<readonly unknown[]>(lists)).toEqual(lists.map(() => []))
      expect(await opened.findMessage(conversationId, false, 'a')).toBeUndefined()
      expect(await opened.hasNonce(conversationId, 'n')).toBe(false)
      expect(await opened.latestPeerSeq(conversationId)).toBe(0)
    })
  })

  test('writes at the same time are all stored, in the order of the calls', async () => {
    const { store, reopen } = await open()
    const order: number[] = []
    const writes = Array.from({ length: 200 }, (_, at) =>
      store.write([{ change: 'outbox_added', intent: intentOf(`m${at}`) }]).then(() => order.push(at)),
    )
    await store.write([])
    expect(order.length).toBe(200)
    await Promise.all(writes)
    expect(order).toEqual(Array.from({ length: 200 }, (_, at) => at))
    expect((await (await reopen()).listOutbox()).map(({ internalId }) => internalId)).toEqual(
      order.map((at) => `m${at}`),
    )
  })

  test('an abandoned store refuses the writes it has not begun, and does not write them later', async () => {
    const { store, reopen } = await open()
    await store.write([{ change: 'message', message: messageOf({ id: 'before' }) }])
    const writes = Array.from({ length: 40 }, (_, at) =>
      store.write([{ change: 'message', message: messageOf({ id: `m${at}` }) }]),
    )
    const settled = Promise.allSettled(writes)
    await store.abandon()
    const outcomes = await settled
    expect(await failureOf(store.write([{ change: 'clear' }]))).toMatchObject({ code: 'CLOSED' })
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'CLOSED' })
    const durable = outcomes.flatMap(({ status }, at) => (status === 'fulfilled' ? [`m${at}`] : []))
    const again = await reopen()
    const idsOf = async (): Promise<string[]> =>
      (await again.listMessages(conversationId)).map(({ id }) => id)
    const found = await idsOf()
    expect(found).toEqual(['before', ...Array.from({ length: found.length - 1 }, (_, at) => `m${at}`)])
    expect(found).toEqual(expect.arrayContaining(['before', ...durable]))
    await again.write([])
    expect(await idsOf()).toEqual(found)
  })

  test('a closed store refuses writes', async () => {
    const { store } = await open()
    await store.close()
    expect(await failureOf(store.write([{ change: 'clear' }]))).toMatchObject({ code: 'CLOSED' })
  })
}
