// What push promises on both engines, in tests that control the clock, the nodes and the keys.
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { engines } from '../../test/engines.ts'
import { type MailboxWorld, openMailboxWorld, type Person } from '../../test/mailbox-world.ts'
import { answer, type Push, startPushEndpoint } from '../../test/push-endpoint.ts'
import { readPush, type Subscriber, subscriber } from '../../test/push-subscriber.ts'
import { createLog } from '../operations/log.ts'
import { systemRandom } from '../operations/random.ts'
import { RelayMetrics } from '../operations/relay-metrics.ts'
import { publicKeyOf } from './p256.ts'
import { AllowedHosts } from './public-addresses.ts'
import { createPush, erasePush, makeVapidSecret } from './push.ts'

const never = new AbortController().signal
const DAY_MS = 86_400_000
/** The second try comes after five seconds and up to a quarter more. */
const MOST_FIRST_RETRY_MS = 6250
const service = await startPushEndpoint()
afterAll(() => service.stop())
const key = { kid: 'first', secret: makeVapidSecret(systemRandom) }
const publicKey = Buffer.from(publicKeyOf(key.secret)).toString('base64url')

for (const engine of engines) {
  describe(`push on ${engine.name}`, () => {
    let world: MailboxWorld
    let push: ReturnType<typeof createPush>
    let browser: Subscriber
    let path: string
    const opened: { stop(): Promise<void> }[] = []

    const open = (changed: Partial<Parameters<typeof createPush>[0]> = {}) => {
      const config = { subject: undefined, allowed: new AllowedHosts(['push.test']), fcm: undefined }
      const network = { authorities: service.authority, resolve: async () => ['127.0.0.1'] }
      const { store, bus, clock, limits } = world
      const log = createLog('silent')
      const metrics = new RelayMetrics({ log, clock })
      const parts = { storage: store.storage, bus, clock, limits, log, metrics }
      const made = createPush({
        ...parts,
        config,
        network,
        vapidKeys: { current: [key] },
        randomBytes: systemRandom,
        ...changed,
      })
      opened.push(made)
      return made
    }
    const callOf = ({ id }: Person) => ({
      caller: { id, jti: '', tokenExpiresAt: 0 },
      ...{ params: undefined, query: undefined, asked: undefined, signal: undefined },
      ...{ address: '', host: '', loginHost: () => '' },
    })
    const subscribe = (person: Person): Promise<unknown> =>
      push.routes.pushSubscribe({ ...callOf(person), body: browser.body })
    const send = async (): Promise<void> => {
      await world.run(world.send(world.alice, world.bob, crypto.randomUUID()))
    }
    const textOf = (which: Push | undefined): Promise<string> =>
      readPush(browser, which?.body ?? new Uint8Array())
    const rows = async (): Promise<number> => {
      const [row] = await world.store.storage.sql<{ count: number }>`
        SELECT (SELECT COUNT(*) FROM push_subscriptions) + (SELECT COUNT(*) FROM push_queue)
          + (SELECT COUNT(*) FROM push_wakes) AS count`
      return Number(row?.count)
    }
    const queued = () => world.store.storage.sql<{ due_at: number }>`SELECT due_at FROM push_queue`
    /** Waits until the outcome of every push is recorded. Only then may the test move the clock. */
    const outcomesRecorded = (): Promise<void> => waitUntil(async () => (await queued()).length === 0)
    /**
     * Waits until this many pushes are scheduled for another try. While they are being sent, their process
     * owns them and they are due later.
     */
    const retriesScheduled = (count: number): Promise<void> =>
      waitUntil(async () => {
        const aheadMs = (await queued()).map(({ due_at }) => due_at - world.clock.now())
        return aheadMs.length === count && aheadMs.every((ms) => ms > 0 && ms < MOST_FIRST_RETRY_MS)
      })
    /**
     * Waits until due work has run: WakeDecisions checks every quarter of a second. When the push for another
     * account's call arrives, all pushes that were due before have been sent.
     */
    const settle = async (by = push): Promise<void> => {
      await Bun.sleep(300)
      const other = `/${crypto.randomUUID()}`
      const { body } = await subscriber(service.url(other, 'push.test'))
      await by.routes.pushSubscribe({ ...callOf(world.alice), body })
      by.wakeForCall(world.alice.id)
      await service.until(other)
      await world.store.storage.transaction((sql) => erasePush(sql, world.alice.id))
    }

    beforeEach(async () => {
      world = await openMailboxWorld(engine)
      path = `/${crypto.randomUUID()}`
      browser = await subscriber(service.url(path, 'push.test'))
      push = open()
      await push.start()
      await subscribe(world.bob)
    })
    afterEach(async () => {
      for (const each of opened.splice(0)) await each.stop()
      await world.store.remove()
    })

    test('a call wakes the callee at once, at most every five seconds, with the lifetime of a call', async () => {
      push.wakeForCall(world.bob.id)
      push.wakeForCall(world.bob.id)
      const [first] = await service.until(path)
      expect(await textOf(first)).toBe('{"type":"call"}')
      expect(first?.headers).toMatchObject({ ttl: '45', topic: 'call', urgency: 'high' })
      world.clock.advance(4999)
      push.wakeForCall(world.bob.id)
      await settle()
      expect(service.at(path)).toHaveLength(1)
      world.clock.advance(1)
      push.wakeForCall(world.bob.id)
      await service.until(path, 2)
    })

    test('calls and messages have separate limits', async () => {
      await send()
      world.clock.advance(1000)
      const [first] = await service.until(path)
      expect(await textOf(first)).toBe('{"type":"new_msg"}')
      push.wakeForCall(world.bob.id)
      const [, second] = await service.until(path, 2)
      expect(await textOf(second)).toBe('{"type":"call"}')
    })

    test('an account without a subscription is not woken for a call', async () => {
      push.wakeForCall(world.carol.id)
      await push.routes.pushDisable({ ...callOf(world.bob), body: undefined })
      push.wakeForCall(world.bob.id)
      await settle()
      expect(service.at(path)).toEqual([])
      expect(await rows()).toBe(0)
    })

    test('a push for a call is not tried again after the call has expired', async () => {
      service.on(path, answer(503))
      push.wakeForCall(world.bob.id)
      await service.until(path)
      await retriesScheduled(1)
      world.clock.advance(45_000)
      service.on(path, answer(201))
      await settle()
      expect(service.at(path)).toHaveLength(1)
      world.clock.advance(5000)
      push.wakeForCall(world.bob.id)
      await service.until(path, 2)
    })

    test('the sweep finds a message that no ring announced, once it is old enough, and wakes its recipient once', async () => {
      await push.stop() // The process ended between the acknowledgement and the wake-up push.
      await send()
      const next = open()
      await next.start()
      await next.sweep(never)
      world.clock.advance(4999) // The recipient may be connected to another node and about to confirm it.
      await settle(next)
      expect(service.at(path)).toEqual([])
      world.clock.advance(1)
      await service.until(path)
      await outcomesRecorded()
      world.clock.advance(60_000)
      await next.sweep(never)
      await settle(next)
      expect(service.at(path)).toHaveLength(1)
    })

    test('an account that subscribes at another node is woken by this one after its next sweep', async () => {
      await push.routes.pushDisable({ ...callOf(world.bob), body: undefined })
      const here = open()
      await here.start()
      await send()
      await open().routes.pushSubscribe({ ...callOf(world.bob), body: browser.body })
      await here.sweep(never)
      world.clock.advance(5000)
      await service.until(path)
    })

    test('if all nodes notice a message and all send queued pushes, exactly one sends it', async () => {
      for (let more = 0; more < 3; more++) await open().start()
      for (let round = 1; round <= 3; round++) {
        await send()
        push.wakeForCall(world.bob.id)
        world.clock.advance(1000)
        await service.until(path, round * 2)
        await outcomesRecorded()
        await settle()
        expect(service.at(path)).toHaveLength(round * 2)
        world.clock.advance(10_000)
      }
    })

    test('a wake-up push that is queued while the previous one is being sent is not lost', async () => {
      const held: (() => void)[] = []
      service.on(path, (...asked) => held.push(() => answer(201)(...asked)))
      await send()
      push.wakeForCall(world.bob.id)
      world.clock.advance(1000)
      await service.until(path, 2)
      world.clock.advance(10_000)
      await send()
      push.wakeForCall(world.bob.id)
      world.clock.advance(1000)
      await settle()
      expect(service.at(path)).toHaveLength(2)
      service.on(path, answer(201))
      for (const release of held) release()
      const pushes = await service.until(path, 4)
      const texts = await Promise.all(pushes.slice(2).map(textOf))
      expect(texts.toSorted()).toEqual(['{"type":"call"}', '{"type":"new_msg"}'])
      await settle()
      expect(service.at(path)).toHaveLength(4)
    })

    test('a wake-up push that was accepted late is still followed by ten seconds without another', async () => {
      service.on(path, answer(503))
      await send()
      world.clock.advance(1000)
      await service.until(path)
      await retriesScheduled(1)
      service.on(path, answer(201))
      world.clock.advance(8000)
      await service.until(path, 2)
      await outcomesRecorded()
      await send()
      world.clock.advance(3000)
      await settle() // Ten seconds after the first try, and three after its outcome.
      expect(service.at(path)).toHaveLength(2)
      world.clock.advance(7000)
      await service.until(path, 3)
    })

    test('queued pushes for a browser are not sent after another account logs in with it', async () => {
      service.on(path, answer(503))
      push.wakeForCall(world.bob.id)
      await service.until(path)
      await retriesScheduled(1)
      await subscribe(world.carol)
      service.on(path, answer(201))
      world.clock.advance(8000)
      await settle()
      expect(service.at(path)).toHaveLength(1)
    })

    test('a browser has one subscription, even if its URL is written differently', async () => {
      const { endpoint, ...rest } = browser.body
      const written = [
        endpoint.replace('push.test', 'PUSH.test'),
        `${endpoint}#1`,
        endpoint.replace(path, `/.${path}`),
      ]
      for (const each of written)
        await push.routes.pushSubscribe({ ...callOf(world.carol), body: { ...rest, endpoint: each } })
      push.wakeForCall(world.bob.id)
      await settle()
      expect(service.at(path)).toEqual([])
      push.wakeForCall(world.carol.id)
      await service.until(path)
      await settle()
      expect(service.at(path)).toHaveLength(1)
    })

    test('a queued push without a subscription, which two nodes can leave behind, is deleted', async () => {
      const before = await rows()
      await world.store.storage.transaction(
        (sql) => sql`
          INSERT INTO push_queue (subscription_id, kind, host, due_at, expires_at, attempts)
          VALUES (987654, 'call', 'push.test', 0, ${world.clock.now() + DAY_MS}, 0)`,
      )
      await waitUntil(async () => (await rows()) === before)
    })

    test('accounts are still woken after the clock is set back by a year', async () => {
      service.on(path, answer(503))
      await send()
      world.clock.advance(1000)
      push.wakeForCall(world.bob.id)
      await service.until(path, 2)
      await retriesScheduled(2)
      service.on(path, answer(201))
      world.clock.jump(-365 * DAY_MS)
      await send()
      push.wakeForCall(world.bob.id)
      world.clock.advance(1000)
      const pushes = await service.until(path, 4)
      const texts = await Promise.all(pushes.slice(2).map(textOf))
      expect(texts.toSorted()).toEqual(['{"type":"call"}', '{"type":"new_msg"}'])
    })

    test('a subscription whose pushes all failed for a week is deleted, another is not', async () => {
      service.on(path, answer(400))
      const wake = async (count: number): Promise<void> => {
        await send()
        world.clock.advance(1000)
        await service.until(path, count)
        await outcomesRecorded()
        await world.run(world.receipt(world.bob, world.alice, 'delivered', count))
      }
      await wake(1)
      world.clock.advance(6 * DAY_MS)
      service.on(path, answer(201))
      await wake(2)
      service.on(path, answer(400))
      world.clock.advance(2 * DAY_MS)
      await wake(3)
      world.clock.advance(6 * DAY_MS)
      await wake(4)
      expect(await rows()).toBe(2) // The subscription, and the position that the account was woken for.
      world.clock.advance(2 * DAY_MS)
      await wake(5)
      expect(await rows()).toBe(1)
    })

    test('a subscription made with a key that the relay no longer has is deleted', async () => {
      await push.stop()
      const next = open({
        vapidKeys: { current: [{ kid: 'second', secret: makeVapidSecret(systemRandom) }] },
      })
      await next.start()
      await send()
      world.clock.advance(1000)
      await waitUntil(
        async () => (await world.store.storage.sql`SELECT id FROM push_subscriptions`).length === 0,
      )
      expect(service.at(path)).toEqual([])
      expect(await rows()).toBe(1)
    })

    test('older keys still sign for the browsers that subscribed with them', async () => {
      await push.stop()
      const next = open({
        vapidKeys: { current: [{ kid: 'second', secret: makeVapidSecret(systemRandom) }, key] },
      })
      await next.start()
      await send()
      world.clock.advance(1000)
      const [first] = await service.until(path)
      expect(first?.headers.authorization).toEndWith(`k=${publicKey}`)
    })

    test('deleting an account deletes all its push data', async () => {
      service.on(path, answer(503))
      await send()
      push.wakeForCall(world.bob.id)
      world.clock.advance(1000)
      await service.until(path, 2)
      expect(await rows()).toBe(4)
      await world.store.storage.transaction((sql) => erasePush(sql, world.bob.id))
      await settle()
      expect(await rows()).toBe(0)
    })
  })
}

async function waitUntil(condition: () => Promise<boolean>): Promise<void> {
  for (const late = performance.now() + 45_000; !(await condition()); await Bun.sleep(10)) {
    if (performance.now() > late) throw new Error('the condition was not met in time')
  }
}
