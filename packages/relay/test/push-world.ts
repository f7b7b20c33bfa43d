// What the wire tests of push share: a push service, browsers that are subscribed to it, and accounts that
// send messages to each other.
import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import { join } from 'node:path'
import { signal } from './call-frames.ts'
import type { Push, PushEndpoint } from './push-endpoint.ts'
import { readPush, type Subscriber, subscriber } from './push-subscriber.ts'
import type { UsedRelay } from './use-relay.ts'
import { befriend, message, type WireAccount, wireAccount } from './wire.ts'

/** Settings of a relay that trusts the tests' push service. */
export function settingsFor(service: PushEndpoint): Record<string, string> {
  return {
    NODE_EXTRA_CA_CERTS: service.authorityFile,
    PUSH_ALLOW: 'localhost, 127.0.0.1',
    PUSH_SUBJECT: 'mailto:operator@relay.example',
  }
}

/** An account with a browser that receives its pushes. */
export interface Woken {
  readonly account: WireAccount
  readonly browser: Subscriber
  /** Where its pushes arrive. */
  readonly path: string
}

/** Subscribes a new browser with an endpoint at this path, by default a random one. */
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

/** The result of `sleeper`. */
export type Sleeper = Awaited<ReturnType<typeof sleeper>>

/**
 * Two friends. Alice is connected. Bob is not, and his browser receives pushes. `send` sends him a message.
 */
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

/**
 * Waits until another account gets a push for a call: the relay has sent every push that was due before it.
 */
export async function untilDuePushesAreSent(relayUrl: string, service: PushEndpoint): Promise<void> {
  const { socket, alice, bob, path } = await sleeper(relayUrl, service)
  socket.send(signal('call_offer', [alice, bob]))
  await service.until(path)
  await socket.close()
}

/**
 * Lets this time pass, at least a second. Then waits until another account gets a push for a message: by that
 * time the relay has checked which accounts to wake and has sent every push that was due.
 */
export async function letPassUntilPushesAreSent(
  relay: UsedRelay,
  service: PushEndpoint,
  ms: number,
): Promise<void> {
  const { send, socket, path } = await sleeper(relay.url, service)
  await send()
  await relay.process.letPass(ms)
  await service.until(path)
  await socket.close()
}

/** The decrypted text of a push. */
export function textOf({ browser }: { browser: Subscriber }, push: Push | undefined): Promise<string> {
  return readPush(browser, push?.body ?? new Uint8Array())
}

/** When the queued push to a browser or a device is due, on SQLite; undefined if none is queued. */
function dueAt(dataDir: string, target: string): number | undefined {
  using store = new Database(join(dataDir, 'sotto.db'), { readonly: true })
  const waiting = store.query<{ due_at: number }, [string]>(`
    SELECT due_at FROM push_queue JOIN push_subscriptions ON id = subscription_id WHERE target LIKE '%' || ?1`)
  return waiting.get(target)?.due_at
}

/**
 * Waits until the retry of a push is queued. Before that, the push belongs to its sender for half a minute
 * and is due after that time.
 */
export async function untilRetryIsQueued(dataDir: string, target: string, now: number): Promise<void> {
  await until(
    () => (dueAt(dataDir, target) ?? Number.POSITIVE_INFINITY) - now < 29_000,
    'the retry is queued',
  )
}

/** Waits until no push to this browser or device is queued. */
export async function untilDone(dataDir: string, target: string): Promise<void> {
  await until(() => dueAt(dataDir, target) === undefined, 'no push is queued for it')
}

async function until(condition: () => boolean, what: string): Promise<void> {
  for (const late = performance.now() + 45_000; !condition(); await Bun.sleep(10)) {
    if (performance.now() > late) throw new Error(`waited in vain until ${what}`)
  }
}
