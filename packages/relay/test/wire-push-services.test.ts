// The answers of push services and their effect: subscriptions end, wake-up pushes are retried, and a service
// that does not answer delays no other service.
import { afterAll, describe, expect, test } from 'bun:test'
import { answer, startPushEndpoint } from './push-endpoint.ts'
import {
  type Sleeper,
  settingsFor,
  sleeper,
  subscribed,
  textOf,
  untilDone,
  untilDuePushesAreSent,
  untilRetryIsQueued,
} from './push-world.ts'
import { useRelay } from './use-relay.ts'

const service = await startPushEndpoint()
afterAll(() => service.stop())
const settings = { ...settingsFor(service), LIMIT_PUSH_MESSAGE_SECONDS: '1' }

describe('a push service that answers', () => {
  const relay = useRelay(settings)
  const letPass = (ms: number): Promise<number> => relay.process.letPass(ms)
  const duePushesAreSent = (): Promise<void> => untilDuePushesAreSent(relay.url, service)
  const sleepers = (statuses: readonly number[]) =>
    Promise.all(
      statuses.map(async (status) => {
        const woken = await sleeper(relay.url, service)
        service.on(woken.path, answer(status))
        return woken
      }),
    )

  /** Sends each recipient a message, and waits until each has received a wake-up push for it. */
  async function wake(woken: readonly Sleeper[], count = 1): Promise<void> {
    await Promise.all(woken.map(({ send }) => send()))
    await letPass(1000)
    for (const { path } of woken) await service.until(path, count)
  }

  /** Waits until the retries are stored in the queue. Only then may the test move the clock. */
  async function retriesQueued(woken: readonly Sleeper[]): Promise<void> {
    const now = await letPass(0)
    for (const { path } of woken) await untilRetryIsQueued(relay.process.dataDir, path, now)
  }

  const countsOf = (woken: readonly Sleeper[]): number[] => woken.map(({ path }) => service.at(path).length)

  test('404 and 410 end that browser’s subscription, and its endpoint gets no more requests', async () => {
    const woken = await sleepers([404, 410])
    const kept = await Promise.all(woken.map(({ bob }) => subscribed(bob, service)))
    await wake(woken)
    for (const { path } of kept) await service.until(path)
    for (const { path } of woken) service.on(path, answer(201))
    await letPass(1000)
    for (const { send } of woken) await send()
    await letPass(1000)
    for (const { path } of kept) await service.until(path, 2)
    await duePushesAreSent()
    expect(countsOf(woken)).toEqual([1, 1])
  })

  test('429 with Retry-After is retried after that time, and not before', async () => {
    const woken = await sleeper(relay.url, service)
    service.on(woken.path, answer(429, { 'retry-after': '8' }))
    await wake([woken])
    await retriesQueued([woken])
    service.on(woken.path, answer(201))
    await letPass(7999)
    await duePushesAreSent()
    expect(service.at(woken.path)).toHaveLength(1)
    await letPass(1)
    const [, second] = await service.until(woken.path, 2)
    expect(await textOf(woken, second)).toBe('{"type":"new_msg"}')
    await untilDone(relay.process.dataDir, woken.path)
    await letPass(60_000)
    await duePushesAreSent()
    expect(service.at(woken.path)).toHaveLength(2)
  })

  test('500, 502, 503 and 429 are retried with growing delays', async () => {
    const woken = await sleepers([500, 502, 503, 429])
    await wake(woken)
    await retriesQueued(woken)
    await letPass(4999)
    await duePushesAreSent()
    expect(countsOf(woken)).toEqual([1, 1, 1, 1])
    await letPass(1251) // The delay is up to a quarter longer, at random.
    for (const { path } of woken) await service.until(path, 2)
    await retriesQueued(woken)
    for (const { path } of woken) service.on(path, answer(201))
    await letPass(9999)
    await duePushesAreSent()
    expect(countsOf(woken)).toEqual([2, 2, 2, 2])
    await letPass(2501)
    for (const { path } of woken) await service.until(path, 3)
    for (const { path } of woken) await untilDone(relay.process.dataDir, path)
    await letPass(60_000)
    await duePushesAreSent()
    expect(countsOf(woken)).toEqual([3, 3, 3, 3])
  })

  test('500 is not retried after the messages have arrived', async () => {
    const [woken] = await sleepers([500])
    if (!woken) throw new Error('expected one recipient')
    const { send, path, bob, alice, conv, socket: alices } = woken
    const seq = await send()
    await letPass(1000)
    await service.until(path)
    await retriesQueued([woken])
    const { socket } = await bob.online()
    socket.send({ type: 'delivered', conv_id: conv, seq, to: alice.alias })
    await alices.next('delivered') // It is stored.
    await socket.close()
    await letPass(60_000)
    await duePushesAreSent()
    expect(service.at(path)).toHaveLength(1)
  })

  test('400, 401, 403 and 413 end that wake-up push without a retry; the next one is sent as usual', async () => {
    const woken = await sleepers([400, 401, 403, 413])
    await wake(woken)
    for (const { path } of woken) await untilDone(relay.process.dataDir, path)
    await letPass(60_000)
    await duePushesAreSent()
    expect(countsOf(woken)).toEqual([1, 1, 1, 1])
    for (const { path } of woken) service.on(path, answer(201))
    await wake(woken, 2)
  })

  test('a redirect is not followed', async () => {
    const woken = await sleeper(relay.url, service)
    const { path } = woken
    service.on(path, answer(307, { location: service.url(`${path}/led`, '127.0.0.1') }))
    await wake([woken])
    await untilDone(relay.process.dataDir, path)
    expect(service.at(`${path}/led`)).toEqual([])
  })

  test('whose answer never ends is read no further than the head', async () => {
    const woken = await sleeper(relay.url, service)
    const { path } = woken
    let written = 0
    const cut = Promise.withResolvers<void>()
    service.on(path, (response) => {
      response.once('close', cut.resolve)
      response.writeHead(201)
      const more = (): void => {
        written += 65_536
        if (!response.destroyed) response.write('x'.repeat(65_536), more)
      }
      more()
    })
    await wake([woken])
    await cut.promise
    expect(written).toBeLessThan(64 * 2 ** 20)
    await untilDone(relay.process.dataDir, path) // The push counts as sent: the status was 201.
    expect(service.at(path)).toHaveLength(1)
  })
})

describe('a push service that does not answer', () => {
  const relay = useRelay(settings)

  test('does not delay the pushes of another service', async () => {
    for (let isInTime = false; !isInTime; ) {
      const stuck: Awaited<ReturnType<typeof sleeper>>[] = []
      for (let i = 0; i < 40; i++) {
        const path = `/${crypto.randomUUID()}`
        service.on(path, () => undefined)
        stuck.push(await sleeper(relay.url, service, path, '127.0.0.1'))
      }
      const other = await sleeper(relay.url, service)
      const sentAt = performance.now()
      await Promise.all(stuck.map(({ send }) => send()))
      const asked = () => service.pushes.filter(({ path }) => stuck.some((each) => each.path === path))
      while (asked().length < 32) await Bun.sleep(20)
      await other.send()
      const [push] = await service.until(other.path)
      const before = asked().filter(({ at }) => at < (push?.at ?? 0))
      // Requests that hang are given up after 10 s, and the rest are sent then. A slow machine needs as long.
      isInTime = (push?.at ?? 0) - sentAt < 10_000
      if (isInTime) expect(before).toHaveLength(32)
      for (const { path } of stuck) await service.until(path)
      for (const { path } of stuck) service.on(path, answer(201)) // So that no retry is in the way.
    }
  })

  test('gets the retry from the next process if this one ends', async () => {
    const { send, path, ...woken } = await sleeper(relay.url, service)
    service.on(path, answer(503))
    await send()
    await service.until(path)
    await untilRetryIsQueued(relay.process.dataDir, path, await relay.process.letPass(0))
    await relay.process.kill('SIGKILL')
    service.on(path, answer(201))
    await relay.process.start()
    await relay.process.letPass(6250)
    const [, again] = await service.until(path, 2)
    expect(await textOf(woken, again)).toBe('{"type":"new_msg"}')
    await untilDone(relay.process.dataDir, path)
    await relay.process.letPass(60_000)
    await untilDuePushesAreSent(relay.url, service)
    expect(service.at(path)).toHaveLength(2)
  })

  test('gets the push again if the relay was killed before the answer, with the same topic', async () => {
    const { send, path, ...woken } = await sleeper(relay.url, service)
    service.on(path, () => undefined)
    await send()
    await relay.process.letPass(1000)
    await service.until(path)
    await relay.process.kill('SIGKILL')
    service.on(path, answer(201))
    await relay.process.start()
    // The relay does not know whether the first push arrived, so it sends it again once the time that a
    // sender owns it is over.
    await relay.process.letPass(30_000)
    const [first, again] = await service.until(path, 2)
    // A push service keeps the later of two pushes with the same topic.
    expect(again?.headers.topic).toBe(String(first?.headers.topic))
    expect(await textOf(woken, again)).toBe('{"type":"new_msg"}')
    await untilDone(relay.process.dataDir, path)
    await relay.process.letPass(60_000)
    await untilDuePushesAreSent(relay.url, service)
    expect(service.at(path)).toHaveLength(2)
  })

  test('does not keep the relay from stopping, and gets the push again after the start', async () => {
    const { send, path } = await sleeper(relay.url, service)
    service.on(path, () => undefined)
    await send()
    await relay.process.letPass(1000)
    await service.until(path)
    const began = performance.now()
    expect(await relay.process.kill('SIGTERM')).toBe(0)
    // The request that hangs is given up after 10 s.
    expect(performance.now() - began).toBeLessThan(9000)
    service.on(path, answer(201))
    await relay.process.start()
    await service.until(path, 2)
  })
})
