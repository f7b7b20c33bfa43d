// What the wire tests of push share: a push service, browsers subscribed at it, and people who write to each other.
import { expect } from 'bun:test'
import type { Push, PushEndpoint } from './push-endpoint.ts'
import { readPush, type Subscriber, subscriber } from './push-subscriber.ts'
import { befriend, message, type WireAccount, wireAccount } from './wire.ts'

/** Settings of a relay that believes a push service of the tests' own. */
export function settingsFor(service: PushEndpoint): Record<string, string> {
  return {
    NODE_EXTRA_CA_CERTS: service.authorityFile,
    PUSH_ALLOW: 'localhost, 127.0.0.1',
    PUSH_SUBJECT: 'mailto:operator@relay.example',
  }
}

/** Somebody with a browser that is woken. */
export interface Woken {
  readonly account: WireAccount
  readonly browser: Subscriber
  /** Where its pushes arrive. */
  readonly path: string
}

/** Subscribes a fresh browser at a path of its own. */
export async function subscribed(
  account: WireAccount,
  service: PushEndpoint,
  path = `/${crypto.randomUUID()}`,
  host?: string,
): Promise<Woken> {
  const browser = await subscriber(service.url(path, host))
  const answered = await account.post('/push/subscribe', browser.body)
  expect(answered.body).toEqual({})
  expect(answered.status).toBe(200)
  return { account, browser, path }
}

/** Two friends, the second with a browser that is woken, and nobody connected but the first. */
export async function sleeper(relayUrl: string, service: PushEndpoint, path?: string, host?: string) {
  const [alice, bob] = [await wireAccount(relayUrl), await wireAccount(relayUrl)]
  const conv = await befriend(alice, bob)
  const { socket } = await alice.online()
  const woken = await subscribed(bob, service, path, host)
  const send = async (text = 'hello', id: string = crypto.randomUUID()): Promise<number> => {
    socket.send(message(bob.alias, conv, text, id))
    return (await socket.next('ack')).seq
  }
  return { alice, bob, conv, socket, send, ...woken }
}

/** What a browser was told by a push. */
export function told({ browser }: { browser: Subscriber }, push: Push | undefined): Promise<string> {
  return readPush(browser, push?.body ?? new Uint8Array())
}
