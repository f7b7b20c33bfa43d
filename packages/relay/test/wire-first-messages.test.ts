// The first messages after an acceptance wait for clients that need the friend list before they can decrypt
// them. Such a client drops what it cannot decrypt, and its next `delivered` erases that.
import { afterAll, describe, expect, test } from 'bun:test'
import { startPushEndpoint } from './push-endpoint.ts'
import { settingsFor, subscribed, textOf } from './push-world.ts'
import { onEveryEngine } from './use-relay.ts'
import { befriend, message, type WireAccount, type WireSocket, wireAccount } from './wire.ts'

/** Connects as an older client does. @returns its socket, and what the relay sent at first */
async function older(account: WireAccount) {
  const socket = await account.connect()
  const backlog = await socket.untilSynced()
  socket.send({ type: 'sync', crypto_v: 1 })
  const others = await socket.untilSynced()
  expect(others.pop()).toEqual({ type: 'sync_end', count: 0 })
  socket.frames.unshift(...others) // Of the messages that wait, some may go meanwhile.
  return { socket, backlog }
}

/** What of messages the relay has sent until now. */
const storedUntilNow = async (socket: WireSocket): Promise<unknown[]> =>
  idsOf((await socket.untilPong()).filter(({ type }) => type === 'msg' || type === 'retract'))

/**
 * Bob, whose client is an older one, a friend that it knows, and a new friend. Both friends are connected.
 * `tell` and `tellNew` send Bob a message of the one and of the other. @returns the relay's `ack`
 */
async function people(relayUrl: string) {
  const bob = await wireAccount(relayUrl)
  const [known, fresh] = [await wireAccount(relayUrl), await wireAccount(relayUrl)]
  const knownConv = await befriend(known, bob)
  const [{ socket: knowns }, { socket: news }] = [await known.online(), await fresh.online()]
  const bobs = await bob.connect()
  bobs.send({ type: 'sync', receipts: 'by_seq' })
  knowns.send(message(bob.alias, knownConv, 'hello', 'known-0'))
  await knowns.next('ack')
  const { seq } = await bobs.next('msg')
  bobs.send({ type: 'delivered', conv_id: knownConv, seq, to: known.alias })
  await knowns.next('delivered')
  await bobs.close()

  const conv = await befriend(fresh, bob)
  const ask = async (socket: WireSocket, frame: Record<string, unknown>) => {
    socket.send(frame)
    return await socket.next(frame.type === 'retract' ? 'retract_ack' : 'ack')
  }
  const tell = (id: string) => ask(knowns, message(bob.alias, knownConv, id, id))
  const tellNew = (id: string) => ask(news, message(bob.alias, conv, id, id))
  const retractNew = (id: string) => ask(news, { type: 'retract', id, to: bob.alias, conv_id: conv })
  const retract = (id: string) => ask(knowns, { type: 'retract', id, to: bob.alias, conv_id: knownConv })
  return { ...{ bob, known, knowns, knownConv, fresh, news, conv }, tell, tellNew, retract, retractNew }
}

const idsOf = (frames: { id?: string }[]): unknown[] => frames.flatMap(({ id }) => id ?? [])

/** How long the messages wait after the reply with the friend list, in milliseconds. */
const AFTER_LIST_MS = 1000

/** How long they wait at most in the tests of that wait. */
const UNLISTED_SECONDS = 5

/**
 * Expects these messages of the new friend in their order, and one of the other friend. If that was in time,
 * it comes first. A slow machine may need as long as the new ones wait.
 */
async function expectNew(
  socket: WireSocket,
  fresh: readonly string[],
  known: string,
  isInTime: boolean,
): Promise<void> {
  const ids = idsOf(await socket.take(fresh.length + 1, 'msg'))
  expect(ids.filter((id) => id !== known)).toEqual([...fresh])
  if (isInTime) expect(ids[0]).toBe(known)
}

// Most tests wait for the relay, so they wait together.
onEveryEngine(
  (relay) => {
    test('they wait until a second after the friend list was answered, and other conversations go on', async () => {
      const { bob, tell, tellNew } = await people(relay.url)
      await tellNew('new-1')
      await tell('known-1')
      const { socket, backlog } = await older(bob)
      expect(idsOf(backlog)).toEqual(['known-1'])
      expect(backlog.at(-1)).toEqual({ type: 'sync_end', count: 1 })
      await tellNew('new-2')
      await tell('known-2')
      expect(idsOf([await socket.next()])).toEqual(['known-2'])
      expect(await storedUntilNow(socket)).toEqual([])

      const askedAt = performance.now()
      expect((await bob.get('/friends')).body).toHaveLength(2)
      await tellNew('new-3')
      await tell('known-3')
      const isInTime = performance.now() - askedAt < AFTER_LIST_MS
      await expectNew(socket, ['new-1', 'new-2', 'new-3'], 'known-3', isInTime)
      expect(performance.now() - askedAt).toBeGreaterThanOrEqual(AFTER_LIST_MS)
      await tellNew('new-4')
      expect(idsOf([await socket.next()])).toEqual(['new-4'])
      expect(await storedUntilNow(socket)).toEqual([])
    })

    test.concurrent('they go at once to a client that reads receipts by seq, before the sync_end of its sync', async () => {
      const { bob, tellNew } = await people(relay.url)
      for (const id of ['new-1', 'new-2']) await tellNew(id)
      const socket = await bob.connect()
      // Before its first sync, the connection counts as that of an older client.
      expect(idsOf(await socket.untilSynced())).toEqual([])
      socket.send({ type: 'sync', receipts: 'by_seq' })
      expect(idsOf(await socket.take(2))).toEqual(['new-1', 'new-2'])
      expect(await socket.next()).toEqual({ type: 'sync_end', count: 2 })
      await tellNew('new-3')
      expect(idsOf([await socket.next()])).toEqual(['new-3'])
    })

    test.concurrent('a later sync sends everything unconfirmed again, except what still waits', async () => {
      const { bob, tell, tellNew } = await people(relay.url)
      await tell('known-1')
      await tellNew('new-1')
      const { socket } = await older(bob)
      socket.send({ type: 'sync', crypto_v: 1 })
      const again = await socket.untilSynced()
      expect(idsOf(again)).toEqual(['known-1'])
      expect(again.at(-1)).toEqual({ type: 'sync_end', count: 1 })
      await bob.get('/friends')
      expect(idsOf([await socket.next('msg')])).toEqual(['new-1'])
      socket.send({ type: 'sync', crypto_v: 1 })
      expect(idsOf(await socket.untilSynced()).toSorted()).toEqual(['known-1', 'new-1'])
    })

    test.concurrent('a friend list that was read longer ago lets them go at once, also on a later connection', async () => {
      const { bob, tellNew } = await people(relay.url)
      const first = await older(bob)
      await tellNew('new-1')
      await bob.get('/friends')
      await first.socket.next('msg')
      const { backlog } = await older(bob)
      expect(idsOf(backlog)).toEqual(['new-1'])
    })

    test.concurrent('a friend list that was read just before connecting counts from its reply', async () => {
      const { bob, tellNew } = await people(relay.url)
      await tellNew('new-1')
      const askedAt = performance.now()
      await bob.get('/friends')
      const { socket, backlog } = await older(bob)
      const ids = idsOf(backlog).length > 0 ? idsOf(backlog) : idsOf([await socket.next('msg')])
      expect(ids).toEqual(['new-1'])
      expect(performance.now() - askedAt).toBeGreaterThanOrEqual(1000)
    })

    test.concurrent('only a friend list that names the conversation counts, and no HEAD request', async () => {
      const { bob, tell, tellNew } = await people(relay.url)
      await tellNew('new-1')
      const { socket } = await older(bob)
      const [first] = (await bob.get('/friends?limit=1')).body
      expect((await bob.get('/friends?limit=1')).body).toHaveLength(1)
      await bob.bare('HEAD', '/friends')
      await Bun.sleep(1500) // Longer than the second after a reply.
      await tell('known-1')
      expect(idsOf([await socket.next()])).toEqual(['known-1'])
      expect(await storedUntilNow(socket)).toEqual([])
      expect((await bob.get(`/friends?after=${first.friendship_id}`)).body).toHaveLength(1)
      expect(idsOf([await socket.next()])).toEqual(['new-1'])
    })

    test.concurrent('they wait no longer once the account has confirmed something in the conversation', async () => {
      const { bob, fresh, conv, tellNew } = await people(relay.url)
      const first = await bob.connect()
      first.send({ type: 'sync', receipts: 'by_seq' })
      const { seq } = await tellNew('new-1')
      await first.next('msg')
      await first.close()

      await tellNew('new-2')
      await tellNew('new-3')
      const { socket, backlog } = await older(bob)
      expect(idsOf(backlog)).toEqual([])
      socket.send({ type: 'delivered', conv_id: conv, seq, to: fresh.alias })
      expect(idsOf(await socket.take(2))).toEqual(['new-2', 'new-3'])
      const { backlog: later } = await older(bob)
      expect(idsOf(later)).toEqual(['new-2', 'new-3'])
    })

    test.concurrent('after the friendship was renewed they wait again, and the erased ones never come', async () => {
      const { bob, fresh, tell, tellNew } = await people(relay.url)
      const { socket } = await older(bob)
      await tellNew('new-1')
      await bob.get('/friends')
      await socket.next('msg')
      await tellNew('new-2')
      await socket.next('msg')
      const friends = (await fresh.get('/friends')).body
      expect((await fresh.bare('DELETE', `/friends/${friends[0].friendship_id}`)).status).toBeLessThan(300)
      await befriend(bob, fresh)
      await tellNew('new-3')
      await tell('known-1')
      expect(idsOf([await socket.next('msg')])).toEqual(['known-1'])
      expect(await storedUntilNow(socket)).toEqual([])
      await bob.get('/friends')
      expect(idsOf([await socket.next('msg')])).toEqual(['new-3'])
    })

    test.concurrent('retractions wait in their order, and a later one of another conversation does not erase them', async () => {
      const { bob, tell, tellNew, retract, retractNew } = await people(relay.url)
      await tellNew('new-1')
      await tellNew('new-2')
      const { socket } = await older(bob)
      await retractNew('new-1')
      await tell('known-1')
      // A message that is retracted before it was sent is not sent at all.
      expect(idsOf([await socket.next('msg')])).toEqual(['known-1'])
      await retract('known-1')
      expect(idsOf([await socket.next('retract')])).toEqual(['known-1'])
      // The relay pings every 5 s, and takes what came before as arrived two frames after the pong.
      for (const end = performance.now() + 6000; performance.now() < end; await Bun.sleep(100))
        await socket.untilPong()
      await bob.get('/friends')
      const frames = await socket.take(2)
      expect(frames.map(({ type, id }) => [type, id])).toEqual([
        ['msg', 'new-2'],
        ['retract', 'new-1'],
      ])
    })

    test.concurrent('a friendship that ends while they wait erases them, and nothing else', async () => {
      /** @returns whether it ended in time: a slow machine may need as long as the new ones wait */
      const endsInTime = async (end: 'remove' | 'block'): Promise<boolean> => {
        const { bob, fresh, tell, tellNew } = await people(relay.url)
        const { socket } = await older(bob)
        await tellNew('new-1')
        await tell('known-1')
        const askedAt = performance.now()
        const friends: { alias_id: string; friendship_id: number }[] = (await bob.get('/friends')).body
        const id = friends.find(({ alias_id }) => alias_id === fresh.alias)?.friendship_id
        if (end === 'remove') await bob.bare('DELETE', `/friends/${id}`)
        else await bob.bare('PUT', `/blocks/${fresh.alias}`)
        const isInTime = performance.now() - askedAt < AFTER_LIST_MS
        await tell('known-2')
        await Bun.sleep(1500)
        await tell('known-3')
        const ids = [...idsOf(await socket.take(3, 'msg')), ...(await storedUntilNow(socket))]
        if (isInTime) expect(ids).toEqual(['known-1', 'known-2', 'known-3'])
        return isInTime
      }
      for (const end of ['remove', 'block'] as const) while (!(await endsInTime(end))) {}
    })

    test('a thousand of them arrive in order, with those that come meanwhile', async () => {
      const { bob, news, conv, tell } = await people(relay.url)
      const { socket } = await older(bob)
      const text = 'x'.repeat(2000)
      for (let n = 0; n < 1000; n++) news.send(message(bob.alias, conv, text, `new-${n}`))
      await news.take(1000, 'ack')
      await bob.get('/friends')
      for (let n = 1000; n < 1500; n++) news.send(message(bob.alias, conv, text, `new-${n}`))
      await tell('known-1')
      const frames = await socket.take(1501, 'msg')
      const fromNew = frames.filter(({ conv_id }) => conv_id === conv)
      expect(idsOf(fromNew)).toEqual(Array.from({ length: 1500 }, (_, n) => `new-${n}`))
      expect(await storedUntilNow(socket)).toEqual([])
    })

    test('the wait is kept in the store', async () => {
      const { bob, tellNew } = await people(relay.url)
      await tellNew('new-1')
      await relay.process.kill('SIGKILL')
      await relay.process.start()
      const { socket, backlog } = await older(bob)
      expect(idsOf(backlog)).toEqual([])
      await bob.get('/friends')
      expect(idsOf([await socket.next('msg')])).toEqual(['new-1'])
      await relay.process.kill('SIGKILL')
      await relay.process.start()
      expect(idsOf((await older(bob)).backlog)).toEqual(['new-1'])
    })
  },
  { LIMIT_UNLISTED_SECONDS: '300' },
)

onEveryEngine(
  (relay) => {
    test.concurrent('without a friend list they go after a while, and again, oldest first, once it is read', async () => {
      const { bob, fresh, conv, tellNew, tell } = await people(relay.url)
      await tellNew('new-1')
      const startedAt = performance.now()
      const { socket, backlog } = await older(bob)
      expect(idsOf(backlog)).toEqual([])
      await tellNew('new-2')
      expect(idsOf(await socket.take(2, 'msg'))).toEqual(['new-1', 'new-2'])
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(UNLISTED_SECONDS * 1000)
      const { seq } = await tellNew('new-3')
      await tell('known-1')
      expect(idsOf(await socket.take(2, 'msg'))).toEqual(['new-3', 'known-1'])

      await bob.get('/friends')
      expect(idsOf(await socket.take(3, 'msg'))).toEqual(['new-1', 'new-2', 'new-3'])
      socket.send({ type: 'delivered', conv_id: conv, seq, to: fresh.alias })
      await bob.get('/friends')
      await tellNew('new-4')
      expect(idsOf([await socket.next('msg')])).toEqual(['new-4'])
      expect(await storedUntilNow(socket)).toEqual([])
    })

    test.concurrent('while a friend list is being read that was late, new ones wait, and come after those that go again', async () => {
      const { bob, tellNew, tell } = await people(relay.url)
      const { socket } = await older(bob)
      await tellNew('new-1')
      await tellNew('new-2')
      expect(idsOf(await socket.take(2, 'msg'))).toEqual(['new-1', 'new-2'])
      const askedAt = performance.now()
      await bob.get('/friends')
      await tellNew('new-3')
      await tell('known-1')
      const isInTime = performance.now() - askedAt < AFTER_LIST_MS
      await expectNew(socket, ['new-1', 'new-2', 'new-3'], 'known-1', isInTime)
      expect(await storedUntilNow(socket)).toEqual([])
    })

    test.concurrent('they wait as long after an acceptance on an open connection', async () => {
      const { bob } = await people(relay.url)
      const { socket } = await older(bob)
      const late = await wireAccount(relay.url)
      const { socket: lates } = await late.online()
      await Bun.sleep(UNLISTED_SECONDS * 1000 + 500) // The wait after connecting is over.
      const acceptedAt = performance.now()
      const conv = await befriend(late, bob)
      lates.send(message(bob.alias, conv, 'hi', 'late-1'))
      expect(idsOf([await socket.next('msg')])).toEqual(['late-1'])
      expect(performance.now() - acceptedAt).toBeGreaterThanOrEqual(UNLISTED_SECONDS * 1000 - 100)
    })
  },
  { LIMIT_UNLISTED_SECONDS: String(UNLISTED_SECONDS) },
)

describe('an account whose messages wait', () => {
  const service = startPushEndpoint()
  afterAll(async () => (await service).stop())
  test('is woken as for any message that is not confirmed', async () => {
    const endpoint = await service
    const relay = await import('./relay-process.ts')
    const running = await relay.startRelay({
      env: {
        ...settingsFor(endpoint),
        ...{ LIMIT_UNLISTED_SECONDS: '300', LIMIT_PUSH_UNCONFIRMED_SECONDS: '1' },
      },
    })
    const { bob, tellNew } = await people(running.url)
    const woken = await subscribed(bob, endpoint)
    const { socket } = await older(bob)
    await tellNew('new-1')
    const [push] = await endpoint.until(woken.path)
    expect(await textOf(woken, push)).toBe('{"type":"new_msg"}')
    expect(await storedUntilNow(socket)).toEqual([])
    await running.stop()
  })
})
