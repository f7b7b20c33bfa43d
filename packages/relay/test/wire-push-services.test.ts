// What push services may answer, and what becomes of it: subscriptions that end, wakes that are tried again, services that
// hold nobody up but themselves.
import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { answer, startPushEndpoint } from './push-endpoint.ts'
import { settingsFor, sleeper, subscribed, told } from './push-world.ts'
import { useRelay } from './use-relay.ts'

const service = await startPushEndpoint()
afterAll(() => service.stop())
const settings = { ...settingsFor(service), LIMIT_PUSH_MESSAGE_SECONDS: '1' }

describe('a push service that answers', () => {
  const relay = useRelay(settings)

  test.concurrent.each([404, 410])('%p is never asked again for that browser', async (status) => {
    const { send, path, bob } = await sleeper(relay.url, service)
    const other = await subscribed(bob, service)
    service.on(path, answer(status))
    await send()
    await service.until(path)
    await service.until(other.path)
    service.on(path, answer(201))
    await Bun.sleep(1500)
    await send()
    await service.until(other.path, 2)
    await Bun.sleep(1000)
    expect(service.at(path)).toHaveLength(1)
  })

  test.concurrent('429 with Retry-After is asked again then, and not before', async () => {
    const { send, path, ...woken } = await sleeper(relay.url, service)
    service.on(path, answer(429, { 'retry-after': '8' }))
    await send()
    await service.until(path)
    service.on(path, answer(201))
    const [first, second] = await service.until(path, 2)
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeWithin(7900, 16_000)
    expect(await told(woken, second)).toBe('{"type":"new_msg"}')
    await Bun.sleep(2000)
    expect(service.at(path)).toHaveLength(2)
  })

  test.concurrent.each([500, 502, 503, 429])('%p is asked again, later each time', async (status) => {
    const { send, path } = await sleeper(relay.url, service)
    service.on(path, answer(status))
    await send()
    await service.until(path, 2)
    service.on(path, answer(201))
    const [first, second, third] = await service.until(path, 3, 40_000)
    const [before, after] = [(second?.at ?? 0) - (first?.at ?? 0), (third?.at ?? 0) - (second?.at ?? 0)]
    expect(before).toBeWithin(4900, 12_000)
    expect(after).toBeWithin(9900, 20_000)
    await Bun.sleep(1500)
    expect(service.at(path)).toHaveLength(3)
  })

  test.concurrent('500 is not asked again once the messages have arrived', async () => {
    const { send, path, bob, alice, conv } = await sleeper(relay.url, service)
    service.on(path, answer(500))
    const seq = await send()
    await service.until(path)
    const { socket } = await bob.online()
    socket.send({ type: 'delivered', conv_id: conv, seq, to: alice.alias })
    await socket.untilPong()
    await socket.close()
    await Bun.sleep(8000)
    expect(service.at(path)).toHaveLength(1)
  })

  test.concurrent.each([400, 401, 403, 413])(
    '%p is not asked again for that wake, and again for the next',
    async (status) => {
      const { send, path } = await sleeper(relay.url, service)
      service.on(path, answer(status))
      await send()
      await service.until(path)
      await Bun.sleep(7500)
      expect(service.at(path)).toHaveLength(1)
      service.on(path, answer(201))
      await send()
      await service.until(path, 2)
    },
  )

  test.concurrent('a redirect is not followed', async () => {
    const { send, path } = await sleeper(relay.url, service)
    service.on(path, answer(307, { location: service.url(`${path}/led`, '127.0.0.1') }))
    await send()
    await service.until(path)
    await Bun.sleep(1000)
    expect(service.at(`${path}/led`)).toEqual([])
  })

  test.concurrent('with a flood is read no further than its head', async () => {
    const { send, path } = await sleeper(relay.url, service)
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
    await send()
    await cut.promise
    expect(written).toBeLessThan(64 * 2 ** 20)
    const until = written
    await Bun.sleep(500)
    expect(written).toBe(until)
    expect(service.at(path)).toHaveLength(1) // Taken: the status was 201.
  })
})

describe('a push service that does not answer', () => {
  const relay = useRelay(settings)

  test('holds up nobody who is woken by another', async () => {
    const stuck: Awaited<ReturnType<typeof sleeper>>[] = []
    for (let i = 0; i < 40; i++) {
      const path = `/${crypto.randomUUID()}`
      service.on(path, () => undefined)
      stuck.push(await sleeper(relay.url, service, path, '127.0.0.1'))
    }
    const other = await sleeper(relay.url, service)
    const began = performance.now()
    await Promise.all(stuck.map(({ send }) => send()))
    const asked = () => service.pushes.filter(({ path }) => stuck.some((each) => each.path === path))
    while (asked().length < 32 && performance.now() - began < 7000) await Bun.sleep(20)
    await Bun.sleep(1000)
    expect(asked()).toHaveLength(32)
    await other.send()
    const [push] = await service.until(other.path)
    expect((push?.at ?? 0) - began).toBeLessThan(9000)
    // Those that hang are given up after 10 s, and the rest have their turn.
    for (const { path } of stuck) await service.until(path)
  })

  test('is asked by the next process where this one ends, and answers it', async () => {
    const { send, path, ...woken } = await sleeper(relay.url, service)
    service.on(path, answer(503))
    await send()
    await service.until(path)
    await putBack(relay.process.dataDir, path)
    await relay.process.kill('SIGKILL')
    service.on(path, answer(201))
    await Bun.sleep(1000)
    await relay.process.start()
    const [, again] = await service.until(path, 2)
    expect(await told(woken, again)).toBe('{"type":"new_msg"}')
    await Bun.sleep(2500)
    expect(service.at(path)).toHaveLength(2)
  })

  test('is asked again where the relay was killed before it had an answer, in the same place', async () => {
    const { send, path, ...woken } = await sleeper(relay.url, service)
    service.on(path, () => undefined)
    await send()
    await service.until(path)
    await relay.process.kill('SIGKILL')
    service.on(path, answer(201))
    await relay.process.start()
    // Whether the first came through is not known, so it is sent once more, after the time a sender has for it.
    const [first, again] = await service.until(path, 2, 45_000)
    expect(again?.headers.topic).toBe(String(first?.headers.topic)) // Of two with one topic, the later stays.
    expect(await told(woken, again)).toBe('{"type":"new_msg"}')
    await Bun.sleep(3000)
    expect(service.at(path)).toHaveLength(2)
  }, 90_000)

  test('does not keep the relay from stopping, and is asked again after the start', async () => {
    const { send, path } = await sleeper(relay.url, service)
    service.on(path, () => undefined)
    await send()
    await service.until(path)
    const began = performance.now()
    expect(await relay.process.kill('SIGTERM')).toBe(0)
    expect(performance.now() - began).toBeLessThan(5000)
    service.on(path, answer(201))
    await relay.process.start()
    await service.until(path, 2)
  })
})

/** Waits until it is noted that a wake is to be tried again: before, it is held for half a minute for whoever sends it. */
async function putBack(dataDir: string, path: string): Promise<void> {
  using store = new Database(join(dataDir, 'sotto.db'), { readonly: true })
  const waiting = store.query<{ ms: number }, [number, string]>(`
    SELECT due_at - ?1 AS ms FROM push_queue JOIN push_subscriptions ON id = subscription_id
    WHERE target LIKE '%' || ?2`)
  for (let looks = 0; looks < 1000; looks++) {
    const wake = waiting.get(Date.now(), path)
    if (wake && wake.ms < 10_000) return
    await Bun.sleep(10)
  }
  throw new Error('it is not to be tried again soon')
}
