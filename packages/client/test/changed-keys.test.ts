// A contact's keys change while the client encrypts or decrypts a message. No matter when this happens, the
// client reads and posts nothing once it refuses the contact's keys.
import { expect, test } from 'bun:test'
import { deriveIdentityKeys, encodeBase64, generateMnemonic } from '@sotto/crypto'
import { check, FriendList, type RelayFrame, relayFrames } from '@sotto/protocol'
import { Sessions } from '../src/contacts/sessions.ts'
import { Emitter } from '../src/events/events.ts'
import { Confirmations } from '../src/messages/confirmations.ts'
import { Inbox } from '../src/messages/inbox.ts'
import type { MessagesContext } from '../src/messages/messages.ts'
import { Outbox } from '../src/messages/outbox.ts'
import { Posting } from '../src/messages/posting.ts'
import { Settings } from '../src/messages/settings.ts'
import { decideOptions } from '../src/platform/options.ts'
import { Journal } from '../src/stores/journal.ts'
import { MemoryStore } from '../src/stores/memory-store.ts'
import type { StoreChange } from '../src/stores/records.ts'
import { friendOf, makePeer } from './hostile-relay.ts'

/** More event-loop steps than receiving or posting a message takes. */
const STEPS = 60

/** A store that counts the messages it is asked to write, before it writes them. */
class CountingStore extends MemoryStore {
  messages = 0
  override async write(changes: readonly StoreChange[]): Promise<void> {
    this.messages += changes.filter(({ change }) => change === 'message').length
    await super.write(changes)
  }
}

/** The inbox and the posting of a user with one friend, without a connection. */
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
  const syncFriends = async () => sessions.reconcile(friends, await sessions.deriveKeys(friends))
  await syncFriends()
  const nothing = (): void => {}
  const context: MessagesContext = {
    platform,
    store,
    journal,
    emitter,
    sessions,
    send: () => false,
    reopen: nothing,
    hintFriendSync: nothing,
    proveOwnKey: async () => true,
    onStoreFailure: nothing,
  }
  const settings = new Settings(context)
  const inbox = new Inbox(context, new Confirmations(context), settings)
  const posting = new Posting(context, settings, new Outbox(context))
  const impostor = makePeer('bob', bob.conversationId)
  // The relay reports other keys for Bob than those of the session.
  const codes = await sessions.codesOf([impostor.x25519])
  const changeKeys = () =>
    sessions.compare('bob', { x25519: impostor.x25519, ed25519: impostor.ed25519 }, codes)
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
  return { inbox, posting, store, frame, syncFriends, changeKeys, texts }
}

/** Lets pending promise callbacks run for this many steps. */
async function steps(count: number): Promise<void> {
  for (let step = 0; step < count; step += 1) await null
}

test('a message whose sender’s keys change during decryption stays unread until the old keys are back', async () => {
  const { inbox, store, frame, syncFriends, changeKeys, texts } = await makeParts()
  let unread = 0
  for (let step = 0; step < STEPS; step += 1) {
    const received = inbox.onMsg(frame(step + 1))
    await steps(step)
    const before = store.messages
    changeKeys()
    await received
    expect(store.messages).toBe(before)
    unread = Math.max(unread, await store.countOfflineMessages())
    await syncFriends()
    await inbox.retryAllOffline()
    expect((await texts()).at(-1)).toBe(`text ${step + 1}`)
  }
  expect(unread).toBe(1)
})

test('a message whose recipient’s keys change during encryption is not posted', async () => {
  const { posting, store, syncFriends, changeKeys } = await makeParts()
  const outcomes = new Set<string>()
  for (let step = 0; step < STEPS; step += 1) {
    const posted = posting.post('bob', `text ${step}`, {}).then(
      () => 'posted',
      (error: { code: string }) => error.code,
    )
    await steps(step)
    const before = store.messages
    changeKeys()
    const outcome = await posted
    outcomes.add(outcome)
    expect(store.messages).toBe(before)
    await syncFriends()
  }
  expect(outcomes).toEqual(new Set(['KEY_CHANGED', 'posted']))
})
