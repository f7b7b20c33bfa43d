// Who gets a push, and when. The push service is a real server over TLS, and the test decrypts the pushes as
// a browser does.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { candidate, signal } from './call-frames.ts'
import { answer, startPushEndpoint } from './push-endpoint.ts'
import { readVapid } from './push-subscriber.ts'
import { letPassUntilPushesAreSent, settingsFor, sleeper, subscribed, textOf } from './push-world.ts'
import { onEveryEngine, useRelay } from './use-relay.ts'
import { call, message, wireAccount } from './wire.ts'

const service = await startPushEndpoint()
afterAll(() => service.stop())
const settings = settingsFor(service)

onEveryEngine((relay) => {
  const letPass = (ms: number): Promise<number> => relay.process.letPass(ms)
  /** Long enough for a retry, but shorter than the time after which a push's sender counts as dead. */
  const let20SecondsPass = (): Promise<void> => letPassUntilPushesAreSent(relay, service, 20_000)

  beforeAll(() => letPass(0))

  test('an offline recipient gets one push for a burst of 500 messages', async () => {
    const { socket, bob, conv, path, ...woken } = await sleeper(relay.url, service)
    for (let i = 0; i < 500; i++) socket.send(message(bob.alias, conv, `message ${i}`))
    await socket.take(500, 'ack')
    await letPass(1000)
    const [push] = await service.until(path)
    expect(await textOf(woken, push)).toBe('{"type":"new_msg"}')
    await let20SecondsPass()
    expect(service.at(path)).toHaveLength(1)
  })

  test('a callee that is not connected gets one push for the call, at once', async () => {
    const { socket, alice, bob, path, ...woken } = await sleeper(relay.url, service)
    socket.send(signal('call_offer', [alice, bob]))
    for (let n = 0; n < 10; n++) socket.send(candidate(n, [alice, bob]))
    const [push] = await service.until(path)
    expect(await textOf(woken, push)).toBe('{"type":"call"}')
    expect(push?.headers).toMatchObject({ ttl: '45', topic: 'call', urgency: 'high' })
    await let20SecondsPass()
    expect(service.at(path)).toHaveLength(1)
  })

  test('a push names its sender, its lifetime, its topic and its urgency, and reveals nothing else', async () => {
    const { send, path } = await sleeper(relay.url, service)
    await send()
    const now = await letPass(1000)
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
    expect(Number(iat) * 1000).toBeWithin(now - 60_000, now + 1000)
    expect(Number(exp) - Number(iat)).toBeWithin(60, 86_400)
  })

  test('a connected client that confirms gets no push; one that does not confirm gets a push after 5 s and not before', async () => {
    const [awake, frozen] = [await sleeper(relay.url, service), await sleeper(relay.url, service)]
    const { socket: awakes } = await awake.bob.online()
    awakes.socket.addEventListener('message', ({ data }) => {
      const { type, conv_id, seq } = JSON.parse(String(data))
      if (type === 'msg') awakes.send({ type: 'delivered', conv_id, seq, to: awake.alice.alias })
    })
    const { socket: silent } = await frozen.bob.online()
    const bothSend = () => Promise.all([awake.send(), frozen.send()])
    for (let i = 0; i < 19; i++) {
      await bothSend()
      await letPass(200)
    }
    await letPassUntilPushesAreSent(relay, service, 1199)
    expect([...service.at(awake.path), ...service.at(frozen.path)]).toEqual([])
    await bothSend()
    await letPass(1)
    const [push] = await service.until(frozen.path)
    expect(await silent.take(20, 'msg')).toHaveLength(20) // The messages were also written to the connection.
    expect(await textOf(frozen, push)).toBe('{"type":"new_msg"}')
    await awakes.untilPong()
    await let20SecondsPass()
    expect(service.at(awake.path)).toEqual([])
  })

  test('a client that disconnects without confirming gets a push; one that reconnects in time does not', async () => {
    const gone = await sleeper(relay.url, service)
    const { socket } = await gone.bob.online()
    await gone.send()
    const back = await sleeper(relay.url, service)
    const seq = await back.send()
    const { socket: backs } = await back.bob.online()
    backs.send({ type: 'delivered', conv_id: back.conv, seq, to: back.alice.alias })
    await back.socket.next('delivered') // It is stored.
    await socket.next('msg')
    await socket.close()
    await letPassUntilPushesAreSent(relay, service, 5000)
    await service.until(gone.path)
    expect(service.at(back.path)).toEqual([])
  })

  test('pushes are at least ten seconds apart, and a message in between still gets its push', async () => {
    const { send, path } = await sleeper(relay.url, service)
    await send()
    await letPass(1000)
    await service.until(path)
    await send()
    await letPassUntilPushesAreSent(relay, service, 1500)
    await send()
    await letPassUntilPushesAreSent(relay, service, 8499)
    expect(service.at(path)).toHaveLength(1)
    // Ten seconds from when the relay recorded the first push, which may be after the next 1.5 s.
    await letPass(1501)
    await service.until(path, 2)
    await let20SecondsPass()
    expect(service.at(path)).toHaveLength(2)
  })

  test('an account that blocks another gets no more pushes for it, not even queued ones', async () => {
    const { alice, bob, conv, socket, send, path } = await sleeper(relay.url, service)
    service.on(path, answer(503))
    await send()
    await letPass(1000)
    await service.until(path)
    expect((await bob.bare('PUT', `/blocks/${alice.alias}`)).status).toBe(200)
    service.on(path, answer(201))
    socket.send(message(bob.alias, conv, 'and another thing'))
    socket.send(signal('call_offer', [alice, bob]))
    await socket.take(2, 'error')
    await let20SecondsPass() // Long enough for the retry.
    expect(service.at(path)).toHaveLength(1)
  })

  test('retractions, receipts, typing and friend requests cause no push', async () => {
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
    // Alice was connected for the first receipt and is not for this one.
    const again = await bob.online()
    again.socket.send({ type: 'read', conv_id: conv, seq: seq + 1, to: alice.alias })
    await again.socket.untilPong()
    await again.socket.close()
    await let20SecondsPass()
    expect(service.at(path)).toEqual([])
    expect(service.at(alices.path)).toEqual([])
  })
}, settings)

describe('a relay without subscriptions', () => {
  const relay = useRelay(settings)

  test('gives every client the same key, also after a restart', async () => {
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
