// Call signalling between connected clients: frames are forwarded unchanged, between friends only.
import { describe, expect, test } from 'bun:test'
import { CALL_TYPES, candidate, settled, signal, textsOf } from './call-frames.ts'
import { RawSocket } from './raw.ts'
import { onEveryEngine, useRelay } from './use-relay.ts'
import { befriend, message, type WireSocket, wireAccount, wireFriends } from './wire.ts'

async function call(relayUrl: string) {
  const friends = await wireFriends(relayUrl)
  const [{ socket: alices }, { socket: bobs }] = [await friends.alice.online(), await friends.bob.online()]
  return { ...friends, alices, bobs, bobsTexts: textsOf(bobs) }
}

/** Expects the next frame to be the refusal of a call frame, with exactly these fields. */
async function expectRefusal(socket: WireSocket, error: string, more: object = {}): Promise<void> {
  expect(await socket.next()).toEqual({
    type: 'error',
    error,
    message: expect.stringMatching(/./),
    call_id: 'call-1',
    ...more,
  })
}

onEveryEngine((relay) => {
  test('every call frame reaches the friend unchanged, in both directions, and the relay sends no answer', async () => {
    const { alice, bob, alices, bobs } = await call(relay.url)
    for (const type of CALL_TYPES) {
      const [there, back] = [signal(type, [alice, bob]), signal(type, [bob, alice])]
      alices.send(there)
      expect(await bobs.next()).toEqual(there)
      bobs.send(back)
      expect(await alices.next()).toEqual(back)
    }
    await settled(alices, alice)
    await settled(bobs, bob)
    expect([alices.frames, bobs.frames]).toEqual([[], []])
  })

  test('fields that the relay does not know are forwarded byte for byte', async () => {
    const { alice, bob, alices, bobsTexts } = await call(relay.url)
    const deep = `${'['.repeat(5000)}1${']'.repeat(5000)}`
    const odd = [
      '"n": 1.0, "big": 12345678901234567890.10, "exp": 1E+400, "zero": -0',
      '"__proto__": {"type": "goaway", "from": "x"}, "constructor": 1, "prototype": [], "toString": "x"',
      '"10": 1, "2": 2, "b": {"z": 1, "a": 2, "a": 3}, "twice": 1, "twice": 2',
      '"\\u0066oo": "\\ud800 \\/ \\u00e9 é \u2028 𝄞", "": null, " ": true, "\\"": "}", "x\\\\": "{[,:"',
      '"at": 1, "seq": 1, "id": "m", "conv_id": "c", "error": "X", "reason": "jwt_revoked"',
      `"deep": ${deep}`,
      `"large": "${'é'.repeat(50_000)}"`,
    ]
    const sent = odd.map(
      (more) =>
        `{ "payload":"AAAA",\t${more} ,"to" : "${bob.alias}","crypto_v":2.0,\r\n "type":"call_ice","call_id":"call-1","from":"${alice.alias}" }  `,
    )
    for (const text of sent) alices.send(text)
    await settled(alices, alice)
    while (bobsTexts.length < sent.length) await Bun.sleep(5)
    expect(bobsTexts).toEqual(sent)
  })

  test('a missing `from` is added, and nothing else is changed', async () => {
    const { alice, bob, alices, bobs, bobsTexts } = await call(relay.url)
    const open = ` {"type":"call_offer", "to":"${bob.alias}","call_id":"call-1","crypto_v":2,"payload":"AAAA","n":1.0,"x":{"from":"}"}`
    alices.send(`${open} }\n`)
    expect(await bobs.next()).toMatchObject({ type: 'call_offer', from: alice.alias, x: { from: '}' } })
    expect(bobsTexts).toEqual([`${open} ,"from":"${alice.alias}"}\n`])
  })

  test('a `from` that is not the sender’s own is refused', async () => {
    const { alice, bob, alices, bobs } = await call(relay.url)
    const carol = await wireAccount(relay.url)
    await befriend(carol, bob)
    await bobs.next('friend_request')
    for (const from of [bob.alias, carol.alias, 'u00000000', '__proto__', 'constructor']) {
      for (const type of CALL_TYPES) {
        alices.send(signal(type, [alice, bob], { from }))
        await expectRefusal(alices, 'INVALID_FIELD', { message: 'from must be one of your aliases' })
      }
    }
    for (const from of [null, '', 7, {}, [alice.alias]]) {
      alices.send(signal('call_offer', [alice, bob], { from }))
      await expectRefusal(alices, 'INVALID_FIELD')
    }
    await settled(bobs, bob)
    expect(bobs.frames).toEqual([])
  })

  test('a frame with the same field twice is refused, because two parsers could read it differently', async () => {
    const { alice, bob, alices, bobs } = await call(relay.url)
    const right = JSON.stringify(signal('call_offer', [alice, bob])).slice(1)
    for (const [field, smuggled] of [
      ['type', '"type":"goaway"'],
      ['type', '"ty\\u0070e":"goaway"'],
      ['from', `"from":"${bob.alias}"`],
      ['to', '"to" : "u00000000"'],
      ['call_id', '"call_id":{"a":[]}'],
      ['payload', '"payload":"\\"}"'],
      ['crypto_v', '"crypto_v":[{"from":1}]'],
    ]) {
      alices.send(`{${smuggled},${right}`)
      await expectRefusal(alices, 'INVALID_FIELD', { message: `${field} must appear only once` })
    }
    await settled(alices, alice)
    expect(await bobs.untilPong()).toEqual([])
  })

  test('a call to a stranger, a blocked account, a former friend, an unknown alias or oneself is refused', async () => {
    const { alice, bob, alices, bobs } = await call(relay.url)
    const [eve, mallory] = [await wireAccount(relay.url), await wireAccount(relay.url)]
    await eve.post('/friends/request', { to_alias_id: bob.alias }) // Requested, not accepted.
    await befriend(mallory, bob)
    await bob.bare('PUT', `/blocks/${mallory.alias}`)
    const [{ socket: eves }, { socket: mallorys }] = [await eve.online(), await mallory.online()]
    await bobs.take(2, 'friend_request')
    for (const type of CALL_TYPES) {
      for (const to of [bob.alias, alice.alias, 'u00000000', eve.alias]) {
        eves.send(signal(type, [eve, bob], { to }))
        await expectRefusal(eves, 'NOT_FRIENDS')
      }
      mallorys.send(signal(type, [mallory, bob]))
      await expectRefusal(mallorys, 'NOT_FRIENDS')
      bobs.send(signal(type, [bob, mallory]))
      await expectRefusal(bobs, 'NOT_FRIENDS')
      alices.send(signal(type, [alice, alice]))
      await expectRefusal(alices, 'NOT_FRIENDS')
    }
    const [friendship] = (await alice.get('/friends')).body
    await bob.bare('DELETE', `/friends/${friendship.friendship_id}`)
    alices.send(signal('call_offer', [alice, bob]))
    await expectRefusal(alices, 'NOT_FRIENDS')
    expect(await bobs.untilPong()).toEqual([])
    expect(await mallorys.untilPong()).toEqual([])
  })

  test('candidates arrive in the order they were sent, even if many are sent at once', async () => {
    const { alice, bob, alices, bobs } = await call(relay.url)
    alices.send(signal('call_offer', [alice, bob]))
    for (let n = 0; n < 200; n++) alices.send(candidate(n, [alice, bob]))
    alices.send(signal('call_hangup', [alice, bob]))
    const seen = await bobs.take(202)
    expect(seen.map(({ type, n }) => n ?? type)).toEqual(['call_offer', ...Array(200).keys(), 'call_hangup'])
  })
})

describe('an earlier alias', () => {
  const relay = useRelay({ PAYMENTS: 'dev' })

  test('reaches its account and is allowed in `from`, and is forwarded unchanged', async () => {
    const { alice, bob, alices, bobs } = await call(relay.url)
    const [old, fresh] = [alice.alias, `vanity_${crypto.randomUUID().slice(0, 8)}`]
    const { order_id } = (await alice.post('/vanity/purchase', { alias_id: fresh })).body
    await alices.next('payment_confirmed')
    expect((await alice.post('/vanity/bind', { order_id })).status).toBe(200)
    await bobs.next('friend_accepted')
    for (const alias of [old, fresh]) {
      const [there, back] = [
        signal('call_ice', [alice, bob], { from: alias }),
        signal('call_ice', [bob, alice], { to: alias }),
      ]
      alices.send(there)
      expect(await bobs.next()).toEqual(there)
      bobs.send(back)
      expect(await alices.next()).toEqual(back)
    }
    alices.send(signal('call_ice', [alice, bob], { from: undefined }))
    expect(await bobs.next()).toMatchObject({ from: fresh })
  })
})

describe('sizes', () => {
  const relay = useRelay()

  test('a payload of 64 KiB is forwarded; a larger one is refused; a frame of 300 KiB too', async () => {
    const { alice, bob, alices, bobs } = await call(relay.url)
    const largest = signal('call_offer', [alice, bob], { payload: 'A'.repeat(65_536) })
    alices.send(largest)
    expect(await bobs.next()).toEqual(largest)
    alices.send(signal('call_offer', [alice, bob], { payload: 'A'.repeat(65_540) }))
    await expectRefusal(alices, 'INVALID_FIELD')
    alices.send(signal('call_offer', [alice, bob], { payload: 'A'.repeat(300 * 1024) }))
    await expectRefusal(alices, 'PAYLOAD_TOO_LARGE')
    expect(await bobs.untilPong()).toEqual([])
  })

  test('very deep nesting does no harm: the frame is forwarded, or refused as invalid JSON', async () => {
    const { alice, bob, alices, bobs } = await call(relay.url)
    const deep = '['.repeat(120_000) + ']'.repeat(120_000)
    alices.send(`{"deep":${deep},${JSON.stringify(signal('call_ice', [alice, bob])).slice(1)}`)
    await settled(alices, alice)
    alices.send(signal('call_hangup', [alice, bob]))
    expect(await bobs.next('call_hangup')).toBeDefined()
  })
})

describe('rates of calls and messages', () => {
  const paced = useRelay({ RATE_LIMITS: 'on', RATE_CALL: '10/1', RATE_MESSAGE: '10/3600' })

  test('a flood of call frames waits in a separate queue and does not delay messages', async () => {
    const { alice, bob, conv, alices, bobs } = await call(paced.url)
    for (let n = 0; n < 40; n++) alices.send(candidate(n, [alice, bob]))
    for (let n = 0; n < 5; n++) alices.send(message(bob.alias, conv, 'x', `m${n}`))
    await alices.take(5, 'ack')
    const seen = (await bobs.take(45)).map(({ id, n }) => id ?? n)
    expect(seen.filter((each) => typeof each === 'string')).toEqual(['m0', 'm1', 'm2', 'm3', 'm4'])
    expect(seen.filter((each) => typeof each === 'number')).toEqual([...Array(40).keys()])
    expect(seen.indexOf('m4')).toBeLessThan(seen.indexOf(39))
  })

  test('messages that wait do not delay a call', async () => {
    const { alice, bob, conv, alices, bobs } = await call(paced.url)
    for (let n = 0; n < 30; n++) alices.send(message(bob.alias, conv, 'x', `m${n}`))
    alices.send(signal('call_offer', [alice, bob]))
    expect(await bobs.next('call_offer')).toBeDefined()
    expect(alices.frames.filter(({ type }) => type === 'ack').length).toBeLessThanOrEqual(10)
  })
})

describe('a friend who reads too slowly', () => {
  const relay = useRelay()

  test('loses call frames, but neither the connection nor a message', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket: alices } = await alice.online()
    const deaf = await RawSocket.open(bob)
    deaf.socket.pause()
    const ballast = 'x'.repeat(200_000)
    for (let n = 0; n < 200; n++) alices.send(candidate(n, [alice, bob], { ballast }))
    await settled(alices, alice)
    alices.send(message(bob.alias, conv, 'still there?', 'the-message'))
    await alices.next('ack')
    deaf.socket.resume()
    await deaf.until((text) => text.includes('the-message'))
    expect(deaf.isEnded).toBe(false)
    expect(deaf.text.split('"call_ice"').length - 1).toBeLessThan(200)
    deaf.socket.destroy()
  })
})
