// Call offers to accounts that are not connected. An offer and its candidates wait for less than a minute; no
// other call frame waits.
import { describe, expect, test } from 'bun:test'
import { CALL_TYPES, candidate, settled, signal, textsOf } from './call-frames.ts'
import { onEveryEngine, useRelay } from './use-relay.ts'
import { befriend, message, type WireAccount, type WireSocket, wireAccount, wireFriends } from './wire.ts'

/** Alice is connected and calls; Bob is not connected. */
async function callAway(relayUrl: string) {
  const friends = await wireFriends(relayUrl)
  const { socket: alices } = await friends.alice.online()
  return { ...friends, alices }
}

/**
 * Connects.
 * @param caller the account that may have called. Its waiting frames are sent when its queue reaches them,
 *   so this function waits until that queue is done.
 * @returns the call frames received, and their text
 */
async function arrive(
  account: WireAccount,
  caller?: readonly [WireSocket, WireAccount],
): Promise<{ socket: WireSocket; calls: unknown[]; texts: string[] }> {
  const socket = await account.connect()
  const texts = textsOf(socket)
  const backlog = await socket.untilSynced()
  if (caller) await settled(...caller)
  const frames = [...backlog, ...(await socket.untilPong())]
  const isOfCall = ({ type }: { type: string }): boolean => type.startsWith('call_')
  return { socket, calls: frames.filter(isOfCall), texts: texts.filter((text) => text.includes('"call_')) }
}

onEveryEngine((relay) => {
  test('an offer waits with its candidates; they arrive unchanged and in order', async () => {
    const { alice, bob, alices } = await callAway(relay.url)
    const offer = `{"n":1.0, ${JSON.stringify(signal('call_offer', [alice, bob])).slice(1)}`
    alices.send(offer)
    const candidates = Array.from({ length: 20 }, (_, n) => candidate(n, [alice, bob]))
    for (const each of candidates) alices.send(each)
    await settled(alices, alice)
    const { socket, calls, texts } = await arrive(bob, [alices, alice])
    expect(calls).toEqual([JSON.parse(offer), ...candidates])
    expect(texts[0]).toBe(offer)
    // The call continues on these connections.
    alices.send(candidate(20, [alice, bob]))
    expect(await socket.next()).toMatchObject({ type: 'call_ice', n: 20 })
    socket.send(signal('call_answer', [bob, alice]))
    expect(await alices.next()).toMatchObject({ type: 'call_answer' })
    expect((await arrive(bob, [alices, alice])).calls).toEqual([])
  })

  test('only the first 64 candidates wait with an offer', async () => {
    const { alice, bob, alices } = await callAway(relay.url)
    alices.send(signal('call_offer', [alice, bob]))
    for (let n = 0; n < 70; n++) alices.send(candidate(n, [alice, bob]))
    await settled(alices, alice)
    const { calls } = await arrive(bob, [alices, alice])
    expect(calls.slice(1)).toMatchObject([...Array(64).keys()].map((n) => ({ type: 'call_ice', n })))
  })

  test('no other call frame waits, and no candidate of another call or from before the offer', async () => {
    const { alice, bob, alices } = await callAway(relay.url)
    for (const type of CALL_TYPES.filter((each) => each !== 'call_offer'))
      alices.send(signal(type, [alice, bob]))
    await settled(alices, alice)
    alices.send(signal('call_offer', [alice, bob], { call_id: 'call-2' }))
    alices.send(candidate(0, [alice, bob], { call_id: 'call-1' }))
    alices.send(candidate(1, [alice, bob], { call_id: 'call-2' }))
    await settled(alices, alice)
    expect((await arrive(bob, [alices, alice])).calls).toMatchObject([
      { type: 'call_offer' },
      { type: 'call_ice', n: 1 },
    ])
  })

  test('a later offer replaces the previous one, of the same call or of another', async () => {
    const { alice, bob, alices } = await callAway(relay.url)
    for (const call_id of ['call-1', 'call-1', 'call-2']) {
      alices.send(signal('call_offer', [alice, bob], { call_id, crypto_v: 3 }))
      alices.send(candidate(0, [alice, bob], { call_id }))
    }
    const last = signal('call_offer', [alice, bob], { call_id: 'call-2' })
    alices.send(last)
    await settled(alices, alice)
    expect((await arrive(bob, [alices, alice])).calls).toEqual([last])
  })

  test('the caller’s hangup deletes the offer; a hangup of another call does not', async () => {
    const { alice, bob, alices } = await callAway(relay.url)
    alices.send(signal('call_offer', [alice, bob]))
    alices.send(signal('call_hangup', [alice, bob], { call_id: 'another' }))
    await settled(alices, alice)
    const { socket, calls } = await arrive(bob, [alices, alice])
    expect(calls).toHaveLength(1)
    await socket.close()
    alices.send(signal('call_hangup', [alice, bob]))
    await settled(alices, alice)
    expect((await arrive(bob, [alices, alice])).calls).toEqual([])
  })

  test.each(['call_answer', 'call_reject', 'call_hangup'] as const)(
    'the callee’s %s deletes the offer; the callee’s candidates and frames of another call do not',
    async (type) => {
      const { alice, bob, alices } = await callAway(relay.url)
      alices.send(signal('call_offer', [alice, bob]))
      await settled(alices, alice)
      const first = await arrive(bob, [alices, alice])
      expect(first.calls).toHaveLength(1)
      first.socket.send(candidate(0, [bob, alice]))
      first.socket.send(signal(type, [bob, alice], { call_id: 'another' }))
      await settled(first.socket, bob)
      const second = await arrive(bob, [alices, alice])
      expect(second.calls).toHaveLength(1)
      second.socket.send(signal(type, [bob, alice]))
      await settled(second.socket, bob)
      expect((await arrive(bob, [alices, alice])).calls).toEqual([])
    },
  )

  test('each new connection gets the offer, even if an earlier connection got it: that one may be dead', async () => {
    const { alice, bob, alices } = await callAway(relay.url)
    const { socket: dead } = await bob.online()
    alices.send(signal('call_offer', [alice, bob]))
    alices.send(candidate(0, [alice, bob]))
    await dead.take(2)
    for (let times = 0; times < 3; times++) {
      const { socket, calls } = await arrive(bob, [alices, alice])
      expect(calls).toMatchObject([{ type: 'call_offer' }, { n: 0 }])
      if (times === 1) await socket.close()
    }
  })

  test('the offer is deleted when the caller disconnects, even right after sending it', async () => {
    const { alice, bob, alices } = await callAway(relay.url)
    alices.send(signal('call_offer', [alice, bob]))
    await settled(alices, alice)
    await alices.close()
    expect((await arrive(bob)).calls).toEqual([])
    const { socket: again } = await alice.online()
    again.send(signal('call_offer', [alice, bob]))
    await again.close()
    expect((await arrive(bob)).calls).toEqual([])
  })

  test('the offer stays when the caller reconnects, and is deleted when another device of the caller connects', async () => {
    const { alice, bob, alices } = await callAway(relay.url)
    alices.send(signal('call_offer', [alice, bob]))
    await settled(alices, alice)
    const { socket: back } = await alice.online() // The same token.
    await alices.closed
    expect((await arrive(bob, [back, alice])).calls).toHaveLength(1)
    await alice.login()
    const { socket: device } = await alice.online()
    await back.closed
    expect((await arrive(bob, [device, alice])).calls).toEqual([])
    expect(await device.untilPong()).toEqual([])
  })

  test('an offer is not delivered after a block or an unfriending, not even when they are friends again', async () => {
    const { alice, bob, alices } = await callAway(relay.url)
    alices.send(signal('call_offer', [alice, bob]))
    await settled(alices, alice)
    await bob.bare('PUT', `/blocks/${alice.alias}`)
    expect((await arrive(bob, [alices, alice])).calls).toEqual([])
    await bob.bare('DELETE', `/blocks/${alice.alias}`)
    await befriend(alice, bob)
    expect((await arrive(bob, [alices, alice])).calls).toEqual([])

    alices.send(signal('call_offer', [alice, bob]))
    await settled(alices, alice)
    await alice.bare('DELETE', `/friends/${(await bob.get('/friends')).body[0].friendship_id}`)
    expect((await arrive(bob, [alices, alice])).calls).toEqual([])
  })

  test('deleting an account deletes its offer; calls to a deleted account are refused', async () => {
    const { alice, bob, alices } = await callAway(relay.url)
    alices.send(signal('call_offer', [alice, bob]))
    await settled(alices, alice)
    await alice.bare('DELETE', '/me')
    await alices.closed
    const { socket, calls } = await arrive(bob)
    expect(calls).toEqual([])
    for (const type of CALL_TYPES) {
      socket.send(signal(type, [bob, alice]))
      expect(await socket.next('error')).toMatchObject({ error: 'NOT_FRIENDS', call_id: 'call-1' })
    }

    const carols = await callAway(relay.url)
    carols.alices.send(signal('call_offer', [carols.alice, carols.bob]))
    await settled(carols.alices, carols.alice)
    await carols.bob.bare('DELETE', '/me')
    carols.alices.send(signal('call_ice', [carols.alice, carols.bob]))
    expect(await carols.alices.next('error')).toMatchObject({ error: 'NOT_FRIENDS' })
  })

  test('an offer is delivered beside the mailbox’s messages and does not change them', async () => {
    const { alice, bob, conv, alices } = await callAway(relay.url)
    for (let n = 0; n < 30; n++) alices.send(message(bob.alias, conv, 'x', `m${n}`))
    await alices.take(30, 'ack')
    alices.send(signal('call_offer', [alice, bob]))
    await settled(alices, alice)
    const socket = await bob.connect()
    expect(await socket.next('call_offer')).toMatchObject({ from: alice.alias })
    const messages = (await socket.take(30, 'msg')).map(({ id }) => id)
    expect(messages).toEqual(Array.from({ length: 30 }, (_, n) => `m${n}`))
    expect(await socket.next('sync_end')).toEqual({ type: 'sync_end', count: 30 })
  })

  test('candidates that are sent while the callee connects arrive after the offer, each once', async () => {
    const { alice, bob, alices } = await callAway(relay.url)
    for (let round = 0; round < 5; round++) {
      const call_id = `round-${round}`
      alices.send(signal('call_offer', [alice, bob], { call_id }))
      let n = 0
      // Fewer than 64, so all of them wait even if the callee connects slowly.
      const flow = setInterval(() => {
        if (n < 60) alices.send(candidate(n++, [alice, bob], { call_id }))
      }, 1)
      await Bun.sleep(10)
      const socket = await bob.connect()
      await Bun.sleep(15)
      clearInterval(flow)
      await settled(alices, alice)
      const seen = [await socket.next('call_offer')]
      while (seen.length <= n) seen.push(await socket.next('call_ice'))
      expect(seen.map((frame) => [frame.call_id, frame.n])).toEqual([
        [call_id, undefined],
        ...[...Array(n).keys()].map((each) => [call_id, each]),
      ])
      await socket.untilPong()
      expect(socket.frames).toEqual([])
      await socket.close()
      alices.send(signal('call_hangup', [alice, bob], { call_id }))
      await settled(alices, alice)
    }
  })

  test('a restart forgets the offer, as it forgets every call', async () => {
    const { alice, bob, alices } = await callAway(relay.url)
    alices.send(signal('call_offer', [alice, bob]))
    await settled(alices, alice)
    await relay.process.kill('SIGKILL')
    await relay.process.start()
    expect((await arrive(bob)).calls).toEqual([])
  })
})

describe('limits', () => {
  const relay = useRelay({ LIMIT_OFFERS: '3', LIMIT_OFFER_BYTES: '20000' })

  test('if many accounts call one callee, only the newest offers are kept', async () => {
    const bob = await wireAccount(relay.url)
    const callers: [WireSocket, WireAccount][] = []
    for (let n = 0; n < 5; n++) {
      const caller = await wireAccount(relay.url)
      await befriend(caller, bob)
      const { socket } = await caller.online()
      socket.send(signal('call_offer', [caller, bob]))
      await settled(socket, caller)
      callers.push([socket, caller])
    }
    const socket = await bob.connect()
    const backlog = await socket.untilSynced()
    for (const caller of callers) await settled(...caller)
    const offers = [...backlog, ...(await socket.untilPong())].filter(({ type }) => type === 'call_offer')
    const seen = offers.map(({ from }) => from)
    expect(seen.toSorted()).toEqual(
      callers
        .slice(2)
        .map(([, { alias }]) => alias)
        .toSorted(),
    )
  })

  test('if one account calls many callees, only its newest offers are kept', async () => {
    const alice = await wireAccount(relay.url)
    const friends: WireAccount[] = []
    for (let n = 0; n < 5; n++) friends.push(await wireAccount(relay.url))
    for (const friend of friends) await befriend(alice, friend)
    const { socket } = await alice.online()
    for (const friend of friends) socket.send(signal('call_offer', [alice, friend]))
    await settled(socket, alice)
    const counts: number[] = []
    for (const friend of friends) counts.push((await arrive(friend, [socket, alice])).calls.length)
    expect(counts).toEqual([0, 0, 1, 1, 1])
  })

  test('candidates are stored up to the size limit of the offer; candidates to a connected callee are forwarded at once', async () => {
    const { alice, bob, alices } = await callAway(relay.url)
    const ballast = 'x'.repeat(6000)
    alices.send(signal('call_offer', [alice, bob]))
    for (let n = 0; n < 10; n++) alices.send(candidate(n, [alice, bob], { ballast }))
    await settled(alices, alice)
    const { socket, calls } = await arrive(bob, [alices, alice])
    expect(calls.slice(1)).toMatchObject([{ n: 0 }, { n: 1 }])
    alices.send(candidate(10, [alice, bob], { ballast }))
    expect(await socket.next()).toMatchObject({ n: 10 })
  })
})
