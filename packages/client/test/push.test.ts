// Push from the client's side: a browser is subscribed with the relay's key, told of messages, and told no more.
import { afterAll, expect, test } from 'bun:test'
import { startRelay } from '@sotto/relay/testing'
import { startPushEndpoint } from '../../relay/test/push-endpoint.ts'
import { readPush, readVapid, type Subscriber, subscriber } from '../../relay/test/push-subscriber.ts'
import { settingsFor } from '../../relay/test/push-world.ts'
import { Push, type PushRegistration, type PushSubscriptionLike } from '../src/client.ts'
import { Person } from './people.ts'

const service = await startPushEndpoint()
const relay = await startRelay({ env: settingsFor(service) })
afterAll(async () => {
  await relay.stop()
  await service.stop()
})

/** A browser's own part, as the Push API has it: one subscription at a time, for one key. */
class Browser implements PushRegistration {
  subscribed: { readonly path: string; readonly keys: Subscriber; readonly key: string } | undefined
  made = 0

  readonly pushManager = {
    getSubscription: async () => this.#subscription(),
    subscribe: async ({ applicationServerKey: key }: { applicationServerKey: string }) => {
      if (this.subscribed && this.subscribed.key !== key)
        throw new DOMException('another key', 'InvalidStateError')
      const path = `/${crypto.randomUUID()}`
      this.made += 1
      this.subscribed = { path, keys: await subscriber(service.url(path)), key }
      const subscription = this.#subscription()
      if (!subscription) throw new Error('it was just made')
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

test('a browser that subscribed is woken for a message, and by nobody but the relay', async () => {
  const [alice, bob] = [await Person.join('alice', relay.url), await Person.join('bob', relay.url)]
  await alice.befriend(bob)
  const [browser, push] = [new Browser(), new Push(bob.client)]
  await push.subscribe(browser)
  bob.client.disconnect()
  await alice.client.send(bob.alias, 'wake up')
  const { path = '', keys, key } = browser.subscribed ?? {}
  const [woken] = await service.until(path)
  if (!keys || !woken) throw new Error('nothing came')
  expect(JSON.parse(await readPush(keys, woken.body))).toEqual({ type: 'new_msg' })
  expect((await readVapid(woken.headers.authorization ?? '')).key).toBe(key ?? '')

  await push.disable()
  await bob.connect()
  bob.client.disconnect()
  await Bun.sleep(100)
  await alice.client.send(bob.alias, 'sleep on')
  await Bun.sleep(3000)
  expect(service.at(path)).toHaveLength(1)
  await Promise.all([alice.client.close(), bob.client.close()])
}, 60_000)

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

test('what the browser does not do is told apart', async () => {
  const dora = await Person.join('dora', relay.url)
  const push = new Push(dora.client)
  await expect(push.subscribe({})).rejects.toMatchObject({ code: 'UNSUPPORTED' })
  for (const [name, code] of [
    ['NotAllowedError', 'NOT_ALLOWED'],
    ['AbortError', 'UNSUPPORTED'],
  ] as const) {
    const browser = new Browser()
    browser.pushManager.subscribe = () => Promise.reject(new DOMException('no', name))
    await expect(push.subscribe(browser)).rejects.toMatchObject({ code })
  }
  await dora.client.close()
})
