// Keys that change while a message is being encrypted or decrypted: at whatever moment they do, nothing is read or posted
// under keys that are refused by then.
import { expect, test } from 'bun:test'
import { deriveIdentityKeys, encodeBase64, generateMnemonic } from '@sotto/crypto'
import { check, FriendList, type RelayFrame, relayFrames } from '@sotto/protocol'
import { Confirmations } from '../src/confirmations.ts'
import type { Context } from '../src/context.ts'
import { Emitter } from '../src/events.ts'
import { Inbox } from '../src/inbox.ts'
import { Journal } from '../src/journal.ts'
import { decideOptions } from '../src/options.ts'
import { Outbox } from '../src/outbox.ts'
import { Sessions } from '../src/sessions.ts'
import { MemoryStore } from '../src/stores/memory-store.ts'
import type { StoreChange } from '../src/stores/records.ts'
import { friendOf, makePeer } from './hostile-relay.ts'

/** More steps than receiving or posting takes. */
const STEPS = 60

/** A store that says at once how many messages it was given. */
class CountingStore extends MemoryStore {
  messages = 0
  override async write(changes: readonly StoreChange[]): Promise<void> {
    this.messages += changes.filter(({ change }) => change === 'message').length
    await super.write(changes)
  }
}

/** What receives and sends, without a connection, for somebody who has one friend. */
async function makeParts() {
  const bob = makePeer('bob')
  const store = new CountingStore()
  const platform = decideOptions({ relayUrl: 'http://localhost:8080', store })
  const emitter = new Emitter()
  const journal = new Journal(store, (error) => {
    throw error
  })
  const keys = await deriveIdentityKeys(await generateMnemonic(platform.random))
  const sessions = new Sessions({
    store,
    journal,
    emitter,
    clock: platform.clock,
    keys,
    isOwnAlias: () => false,
  })
  const friends = check(FriendList, [friendOf(bob)])
  const meet = async () => sessions.reconcile(friends, await sessions.deriveKeys(friends))
  await meet()
  const nothing = (): void => {}
  const context: Context = {
    platform,
    store,
    journal,
    emitter,
    sessions,
    send: () => false,
    reopen: nothing,
    hintFriendSync: nothing,
  }
  const inbox = new Inbox(context, new Confirmations(context))
  const outbox = new Outbox(context)
  const impostor = makePeer('bob', bob.conversationId)
  /** The relay gives other keys for bob than those of the session. */
  const codes = await sessions.codesOf([impostor.x25519])
  const change = () => sessions.compare('bob', { x25519: impostor.x25519, ed25519: impostor.ed25519 }, codes)
  const frame = (seq: number): Extract<RelayFrame, { type: 'msg' }> =>
    check(relayFrames.msg, {
      type: 'msg',
      id: `id-${seq}`,
      to: 'victim',
      conv_id: bob.conversationId,
      crypto_v: 1,
      from: 'bob',
      seq,
      at: seq,
      payload: bob.payloadTo(encodeBase64(keys.agreement.publicKey), `text ${seq}`),
    })
  const texts = async () => (await store.listMessages(bob.conversationId)).map(({ text }) => text)
  return { inbox, outbox, store, frame, meet, change, texts }
}

/** Lets what waits go on by a number of steps. */
async function steps(count: number): Promise<void> {
  for (let step = 0; step < count; step += 1) await null
}

test('a message being decrypted when its sender’s keys are refused is kept unread, and read once they are as before', async () => {
  const { inbox, store, frame, meet, change, texts } = await makeParts()
  let unread = 0
  for (let step = 0; step < STEPS; step += 1) {
    const received = inbox.onMsg(frame(step + 1))
    await steps(step)
    const before = store.messages
    change()
    await received
    expect(store.messages).toBe(before)
    unread = Math.max(unread, await store.countOfflineMessages())
    await meet()
    await inbox.retryAllOffline()
    expect((await texts()).at(-1)).toBe(`text ${step + 1}`)
  }
  expect(unread).toBe(1)
})

test('a message being encrypted when its recipient’s keys are refused is not posted', async () => {
  const { outbox, store, meet, change } = await makeParts()
  const outcomes = new Set<string>()
  for (let step = 0; step < STEPS; step += 1) {
    const posted = outbox.post('bob', `text ${step}`, {}).then(
      () => 'posted',
      (error: { code: string }) => error.code,
    )
    await steps(step)
    const before = store.messages
    change()
    const outcome = await posted
    outcomes.add(outcome)
    expect(store.messages).toBe(before)
    await meet()
  }
  expect(outcomes).toEqual(new Set(['KEY_CHANGED', 'posted']))
})
