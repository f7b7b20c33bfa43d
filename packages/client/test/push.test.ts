// The client's side of push: it subscribes a browser with the relay's key, the browser gets wake-up pushes,
// and the client unsubscribes it.
import { afterAll, expect, test } from 'bun:test'
import { startRelay } from '@sotto/relay/testing'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { startPushEndpoint } from '../../relay/test/push-endpoint.ts'
import { readPush, readVapid, type Subscriber, subscriber } from '../../relay/test/push-subscriber.ts'
import { settingsFor } from '../../relay/test/push-world.ts'
import { keyVault, Push, type PushRegistration, type PushSubscriptionLike } from '../src/client.ts'
import { Person, until } from './people.ts'
import { Recorder } from './recorder.ts'

const service = await startPushEndpoint()
// A second push to the same account soon follows the first, unless it is no longer subscribed.
const relay = await startRelay({ env: { ...settingsFor(service), LIMIT_PUSH_MESSAGE_SECONDS: '1' } })
afterAll(async () => {
  await relay.stop()
  await service.stop()
})

/** A browser with the Push API: it has one subscription at a time, for one key. */
class Browser implements PushRegistration {
  subscribed: { readonly path: string; readonly keys: Subscriber; readonly key: string } | undefined
  made = 0

  get current(): NonNullable<Browser['subscribed']> {
    if (!this.subscribed) throw new Error('not subscribed')
    return this.subscribed
  }

  readonly pushManager = {
    getSubscription: async () => this.#subscription(),
    subscribe: async ({ applicationServerKey: key }: { applicationServerKey: string }) => {
      if (this.subscribed && this.subscribed.key !== key)
        throw new DOMException('another key', 'InvalidStateError')
      const path = `/${crypto.randomUUID()}`
      this.made += 1
      this.subscribed = { path, keys: await subscriber(service.url(path)), key }
      const subscription = this.#subscription()
      if (!subscription) throw new Error('the new subscription is missing')
      return subscription
    },
  }

  #subscription(): PushSubscriptionLike | null {
    const { subscribed } = this
    if (!subscribed) return null
    return {
      options: { applicationServerKey: new Uint8Array(Buffer.from(subscribed.key, 'base64url')).buffer },
      toJSON: () => subscribed.keys.body,
      unsubscribe: async () => {
        this.subscribed = undefined
        return true
      },
    }
  }
}

/** A person whose connection the test can end. */
async function joinWithSocket(name: string): Promise<{ person: Person; goOffline(): Promise<void> }> {
  const sockets: WebSocket[] = []
  const person = await Person.join(name, relay.url, {
    WebSocket: class extends WebSocket {
      constructor(url: string) {
        super(url)
        sockets.push(this)
      }
    },
  })
  return {
    person,
    /** Resolves once the relay has answered the end of the connection. */
    goOffline: async () => {
      const closed = Promise.withResolvers<unknown>()
      sockets.at(-1)?.addEventListener('close', closed.resolve)
      person.client.disconnect()
      await closed.promise
    },
  }
}

test('a subscribed browser gets a push for a message, signed with the relay’s key, and none after disable()', async () => {
  const alice = await Person.join('alice', relay.url)
  const { person: bob, goOffline } = await joinWithSocket('bob')
  await alice.befriend(bob)
  const [browser, push] = [new Browser(), new Push(bob.client)]
  await push.subscribe(browser)
  await goOffline()
  await alice.client.send(bob.alias, 'wake up')
  const { path = '', keys, key } = browser.subscribed ?? {}
  const [woken] = await service.until(path)
  if (!keys || !woken) throw new Error('the browser got no push')
  expect(JSON.parse(await readPush(keys, woken.body))).toEqual({ type: 'new_msg' })
  expect((await readVapid(woken.headers.authorization ?? '')).key).toBe(key ?? '')

  await push.disable()
  await bob.connect()
  await goOffline()
  await alice.client.send(bob.alias, 'sleep on')
  // Carol is subscribed and gets a push for a later message. A push to Bob would have arrived by then.
  const carol = await Person.join('carol', relay.url)
  await alice.befriend(carol)
  const other = new Browser()
  await new Push(carol.client).subscribe(other)
  carol.client.disconnect()
  await alice.client.send(carol.alias, 'wake up')
  await service.until(other.current.path)
  expect(service.at(path)).toHaveLength(1)
  await Promise.all([alice, bob, carol].map(({ client }) => client.close()))
}, 120_000)

test('an application registers the subscription that it made itself, with the relay’s key', async () => {
  for (const keyIn of ['the call', 'the options'] as const) {
    const recorder = new Recorder()
    const alice = await Person.join('alice', relay.url)
    const bob = await Person.join('bob', relay.url, recorder)
    await alice.befriend(bob)
    const [browser, push] = [new Browser(), new Push(bob.client)]
    const key = await push.applicationServerKey()
    const made = await browser.pushManager.subscribe({ applicationServerKey: key })
    if (keyIn === 'the options') await push.register(made)
    else await push.register({ ...made, options: { applicationServerKey: null } }, key)
    const [registered] = recorder.callsOf('/api/v1/push/subscribe')
    expect(registered?.body.vapid_public_key).toBe(key)
    bob.client.disconnect()
    await alice.client.send(bob.alias, 'wake up')
    const { path, keys } = browser.current
    const [woken] = await service.until(path)
    if (!woken) throw new Error('the browser got no push')
    expect(JSON.parse(await readPush(keys, woken.body))).toEqual({ type: 'new_msg' })
    expect((await readVapid(woken.headers.authorization ?? '')).key).toBe(key)
    await bob.client.logOut({ erase: true })
    await until('the browser is unsubscribed', () => !browser.subscribed)
    for (const { client } of [alice, bob]) await client.close()
  }
  const recorder = new Recorder()
  const carol = await Person.join('carol', relay.url, recorder)
  // A subscription without a key is registered without one.
  const { body } = await subscriber(service.url('/without-a-key'))
  const keyless = {
    options: { applicationServerKey: null },
    toJSON: () => body,
    unsubscribe: async () => true,
  }
  await new Push(carol.client).register(keyless)
  expect(recorder.callsOf('/api/v1/push/subscribe')[0]?.body).not.toHaveProperty('vapid_public_key')
  const foreign = {
    options: { applicationServerKey: null },
    toJSON: () => ({}),
    unsubscribe: async () => true,
  }
  expect(await failureOf(new Push(carol.client).register(foreign))).toMatchObject({
    code: 'INVALID_ARGUMENT',
  })
  await carol.client.close()
}, 120_000)

test('subscribing again keeps the subscription, unless it was made with another key', async () => {
  const carol = await Person.join('carol', relay.url)
  const [browser, push] = [new Browser(), new Push(carol.client)]
  await push.subscribe(browser)
  await push.subscribe(browser)
  expect(browser.made).toBe(1)
  const { subscribed } = browser
  if (!subscribed) throw new Error('not subscribed')
  browser.subscribed = { ...subscribed, key: `B${'A'.repeat(86)}` }
  await push.subscribe(browser)
  expect(browser.made).toBe(2)
  expect(browser.subscribed?.key).toBe(subscribed.key)
  await push.unsubscribe(browser)
  expect(browser.subscribed).toBeUndefined()
  await carol.client.close()
})

test('a browser that changed or lost its subscription gets pushes again after the next start of the app', async () => {
  const alice = await Person.join('alice', relay.url)
  for (const change of ['another', 'none']) {
    const bob = await Person.join('bob', relay.url)
    await alice.befriend(bob)
    const browser = new Browser()
    await new Push(bob.client).subscribe(browser)
    const before = browser.current
    // Browsers report this change to their service workers as `pushsubscriptionchange`.
    browser.subscribed = undefined
    if (change === 'another') await browser.pushManager.subscribe({ applicationServerKey: before.key })
    await new Push(bob.client).subscribe(browser)
    bob.client.disconnect()
    await alice.client.send(bob.alias, 'wake up')
    const { path, keys } = browser.current
    expect(path).not.toBe(before.path)
    const [woken] = await service.until(path)
    if (!woken) throw new Error('the browser got no push')
    expect(JSON.parse(await readPush(keys, woken.body))).toEqual({ type: 'new_msg' })
    await bob.client.close()
  }
  await alice.client.close()
})

test('an account that is deleted or replaced on a device unsubscribes the browser', async () => {
  const ways: readonly ((person: Person) => Promise<unknown>)[] = [
    ({ client }) => client.deleteAccount(),
    ({ client }) => client.create({ nickname: 'next', replace: true }),
    async ({ client }) => {
      const other = await Person.join('other', relay.url)
      const mnemonic = other.client.identity?.mnemonic ?? ''
      await other.client.close()
      await client.recover({ mnemonic, replace: true })
    },
  ]
  for (const leave of ways) {
    const erin = await Person.join('erin', relay.url)
    const [browser, push] = [new Browser(), new Push(erin.client)]
    await push.subscribe(browser)
    await leave(erin)
    await until('the browser is unsubscribed', () => !browser.subscribed)
    expect(erin.heard.error).toEqual([])
    await erin.client.close()
  }
})

test('the next account on a device keeps its subscription while a tab still unsubscribes the previous account', async () => {
  const frank = await Person.join('frank', relay.url)
  const [browser, push, elsewhere] = [new Browser(), new Push(frank.client), new Push(frank.client)]
  const released = Promise.withResolvers<void>()
  await push.subscribe(browser)
  // Another tab that reads the browser's subscription slowly.
  let isSlow = false
  const slow: PushRegistration = {
    pushManager: {
      ...browser.pushManager,
      getSubscription: async () => {
        if (isSlow) await released.promise
        return browser.pushManager.getSubscription()
      },
    },
  }
  await elsewhere.subscribe(slow)
  isSlow = true
  const { path } = browser.subscribed ?? {}
  await frank.client.create({ nickname: 'next', replace: true })
  await push.subscribe(browser)
  released.resolve()
  await elsewhere.unsubscribe({})
  expect(browser.made).toBe(2)
  expect(browser.subscribed?.path).not.toBe(path)
  expect(browser.subscribed).toBeDefined()
  await frank.client.close()
})

test('an account that is locked, renamed, recovered or closed stays subscribed', async () => {
  const secrets = keyVault(crypto.getRandomValues(new Uint8Array(32)))
  const grace = await Person.join('grace', relay.url, { secrets })
  const [browser, push] = [new Browser(), new Push(grace.client)]
  await push.subscribe(browser)
  const { subscribed } = browser
  await grace.client.lock()
  // A page that opens while the client is locked cannot subscribe.
  const early = new Push(grace.client)
  expect(await failureOf(early.subscribe(browser))).toMatchObject({ code: 'LOCKED' })
  await grace.client.unlock()
  await early.unsubscribe({})
  expect(browser.subscribed).toBe(subscribed)
  await grace.client.setNickname('Grace H.')
  const { mnemonic = '' } = grace.client.identity ?? {}
  await grace.client.recover({ mnemonic })
  await grace.client.close()
  // When this resolves, the earlier work of `push` has ended.
  await push.unsubscribe({})
  expect(browser.subscribed).toBe(subscribed)
})

test('a failed unsubscribe is reported as an error, and the next identity change unsubscribes the browser', async () => {
  const heidi = await Person.join('heidi', relay.url)
  const [browser, push] = [new Browser(), new Push(heidi.client)]
  await push.subscribe(browser)
  const { getSubscription } = browser.pushManager
  browser.pushManager.getSubscription = () => Promise.reject(new DOMException('no', 'AbortError'))
  await heidi.client.create({ nickname: 'next', replace: true })
  const error = await until('heidi gets the error', () => heidi.heard.error[0])
  expect(error.code).toBe('UNSUPPORTED')
  browser.pushManager.getSubscription = getSubscription
  await heidi.client.create({ nickname: 'and next', replace: true })
  await until('the browser is unsubscribed', () => !browser.subscribed)
  await heidi.client.close()
})

test('subscribing fails with NOT_ALLOWED without permission, and with UNSUPPORTED otherwise', async () => {
  const dora = await Person.join('dora', relay.url)
  const push = new Push(dora.client)
  expect(await failureOf(push.subscribe({}))).toMatchObject({ code: 'UNSUPPORTED' })
  for (const [name, code] of [
    ['NotAllowedError', 'NOT_ALLOWED'],
    ['AbortError', 'UNSUPPORTED'],
  ] as const) {
    const browser = new Browser()
    browser.pushManager.subscribe = () => Promise.reject(new DOMException('no', name))
    expect(await failureOf(push.subscribe(browser))).toMatchObject({ code })
  }
  await dora.client.close()
})
