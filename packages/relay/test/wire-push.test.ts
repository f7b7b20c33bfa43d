// Who is woken by push, and when: by a real push service over TLS that reads what it gets as a browser would.
import { afterAll, describe, expect, test } from 'bun:test'
import { candidate, signal } from './call-frames.ts'
import { answer, startPushEndpoint } from './push-endpoint.ts'
import { readVapid } from './push-subscriber.ts'
import { settingsFor, sleeper, subscribed, told } from './push-world.ts'
import { onEveryEngine, useRelay } from './use-relay.ts'
import { call, message, wireAccount } from './wire.ts'

const service = await startPushEndpoint()
afterAll(() => service.stop())
const settings = settingsFor(service)

/** Somebody who comes for a message, and confirms it, before anybody is woken: within a second of it. */
async function comeInTime(relayUrl: string) {
  for (let tries = 0; tries < 5; tries++) {
    const back = await sleeper(relayUrl, service)
    const began = performance.now()
    await back.send()
    const { socket, backlog } = await back.bob.online()
    const tookMs = performance.now() - began
    const seq = backlog.find(({ type }) => type === 'msg').seq
    socket.send({ type: 'delivered', conv_id: back.conv, seq, to: back.alice.alias })
    if (tookMs < 900) return back // Who came later may be woken, rightly: a machine that is busy tries again.
  }
  throw new Error('this machine is too busy to come within a second')
}

onEveryEngine((relay) => {
  test.concurrent('an offline recipient is woken once for a burst of 500 messages', async () => {
    const { socket, bob, conv, path, ...woken } = await sleeper(relay.url, service)
    const began = performance.now()
    for (let i = 0; i < 500; i++) socket.send(message(bob.alias, conv, `message ${i}`))
    await socket.take(500, 'ack')
    const [push] = await service.until(path)
    expect((push?.at ?? 0) - began).toBeLessThan(10_000)
    expect(await told(woken, push)).toBe('{"type":"new_msg"}')
    await Bun.sleep(5000)
    expect(service.at(path)).toHaveLength(1)
  })

  test.concurrent('who is called and not there is woken for the call, at once and once', async () => {
    const { socket, alice, bob, path, ...woken } = await sleeper(relay.url, service)
    const began = performance.now()
    socket.send(signal('call_offer', [alice, bob]))
    for (let n = 0; n < 10; n++) socket.send(candidate(n, [alice, bob]))
    const [push] = await service.until(path)
    expect((push?.at ?? 0) - began).toBeLessThan(5000)
    expect(await told(woken, push)).toBe('{"type":"call"}')
    expect(push?.headers).toMatchObject({ ttl: '45', topic: 'call', urgency: 'high' })
    await Bun.sleep(3000)
    expect(service.at(path)).toHaveLength(1)
  })

  test.concurrent('a push says who sends it and how long it is worth something, and nothing more than that', async () => {
    const { send, path } = await sleeper(relay.url, service)
    await send()
    const [push] = await service.until(path)
    const { authorization, ...headers } = push?.headers ?? {}
    expect(push?.method).toBe('POST')
    expect(headers).toMatchObject({
      ...{ 'content-encoding': 'aes128gcm', 'content-type': 'application/octet-stream' },
      ...{ ttl: '604800', topic: 'message', urgency: 'high', host: `localhost:${service.port}` },
    })
    expect(Object.keys(headers).toSorted()).toEqual([
      ...[
        'connection',
        'content-encoding',
        'content-length',
        'content-type',
        'host',
        'topic',
        'ttl',
        'urgency',
      ],
    ])
    const { key, claims } = await readVapid(String(authorization))
    const { body } = await call(`${relay.url}/api/v1/push/vapid-key`)
    expect(body).toEqual({ vapid_public_key: key })
    const { iat, exp, ...rest } = claims
    expect(rest).toEqual({ aud: `https://localhost:${service.port}`, sub: 'mailto:operator@relay.example' })
    expect(Number(iat) * 1000).toBeWithin(Date.now() - 60_000, Date.now() + 1000)
    expect(Number(exp) - Number(iat)).toBeWithin(60, 86_400)
  })

  test.concurrent('whoever is connected and confirms is never woken; whoever does not is, after 5 s and not before', async () => {
    const [awake, frozen] = [await sleeper(relay.url, service), await sleeper(relay.url, service)]
    const { socket: confirming } = await awake.bob.online()
    confirming.socket.addEventListener('message', ({ data }) => {
      const { type, conv_id, seq } = JSON.parse(String(data))
      if (type === 'msg') confirming.send({ type: 'delivered', conv_id, seq, to: awake.alice.alias })
    })
    const { socket: silent } = await frozen.bob.online()
    const began = performance.now()
    for (let i = 0; i < 40; i++) {
      await Promise.all([awake.send(), frozen.send()])
      await Bun.sleep(200)
    }
    expect(await silent.take(40, 'msg')).toHaveLength(40) // It was written to the connection, all the same.
    const [push] = await service.until(frozen.path)
    expect((push?.at ?? 0) - began).toBeWithin(4900, 9000)
    expect(await told(frozen, push)).toBe('{"type":"new_msg"}')
    await Bun.sleep(6000)
    expect(service.at(awake.path)).toEqual([])
  })

  test.concurrent('whoever goes away without confirming is woken, and whoever comes in time is not', async () => {
    const gone = await sleeper(relay.url, service)
    const { socket } = await gone.bob.online()
    await gone.send()
    const back = await comeInTime(relay.url)
    await socket.next('msg')
    await socket.close()
    await service.until(gone.path)
    expect(service.at(back.path)).toEqual([])
  })

  test.concurrent('two wakes lie ten seconds apart, and a message in between is not forgotten', async () => {
    const { send, path } = await sleeper(relay.url, service)
    await send()
    await service.until(path)
    await send()
    await Bun.sleep(1500)
    await send()
    const [first, second] = await service.until(path, 2)
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeWithin(9500, 16_000)
    await Bun.sleep(3000)
    expect(service.at(path)).toHaveLength(2)
  })

  test.concurrent('whoever blocks somebody is not woken for them any more, not even by what waits to be sent', async () => {
    const { alice, bob, conv, socket, send, path } = await sleeper(relay.url, service)
    service.on(path, answer(503))
    await send()
    await service.until(path)
    expect((await bob.bare('PUT', `/blocks/${alice.alias}`)).status).toBe(204)
    service.on(path, answer(201))
    socket.send(message(bob.alias, conv, 'and another thing'))
    socket.send(signal('call_offer', [alice, bob]))
    await socket.take(2, 'error')
    await Bun.sleep(8000) // It would have been tried again.
    expect(service.at(path)).toHaveLength(1)
  })

  test.concurrent('neither retractions nor receipts, typing nor friend requests wake anybody', async () => {
    const { alice, bob, conv, socket, path } = await sleeper(relay.url, service)
    const alices = await subscribed(alice, service)
    const { socket: bobs } = await bob.online()
    socket.send(message(bob.alias, conv, 'soon taken back', 'once'))
    const { seq } = await socket.next('ack')
    bobs.send({ type: 'read', conv_id: conv, seq, to: alice.alias })
    await socket.next('read')
    await bobs.close()
    socket.send({ type: 'retract', id: 'once', to: bob.alias, conv_id: conv })
    socket.send({ type: 'retract', id: 'never-seen', to: bob.alias, conv_id: conv })
    socket.send({ type: 'typing', to: bob.alias, conv_id: conv })
    await socket.take(2, 'retract_ack')
    await socket.close()
    const carol = await wireAccount(relay.url)
    await carol.post('/friends/request', { to_alias_id: bob.alias })
    // Her receipt came while Alice was there; this one does not.
    const again = await bob.online()
    again.socket.send({ type: 'read', conv_id: conv, seq: seq + 1, to: alice.alias })
    await again.socket.untilPong()
    await again.socket.close()
    await Bun.sleep(7000)
    expect(service.at(path)).toEqual([])
    expect(service.at(alices.path)).toEqual([])
  })
}, settings)

describe('a relay that nobody subscribed to', () => {
  const relay = useRelay(settings)

  test('gives the same key to everybody, and after a restart', async () => {
    const url = `${relay.url}/api/v1/push/vapid-key`
    const { body, status } = await call(url)
    expect(status).toBe(200)
    expect(Buffer.from(body.vapid_public_key, 'base64url')).toHaveLength(65)
    expect(body.vapid_public_key).toMatch(/^B[\w-]{86}$/)
    await relay.process.kill('SIGKILL')
    await relay.process.start()
    expect((await call(url)).body).toEqual(body)
  })
})
