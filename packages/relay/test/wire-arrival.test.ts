// What no `delivered` will ever confirm arrived: at the second frame after the WebSocket-level pong that followed it.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { WebSocket as PingableSocket } from 'ws'
import { engines } from './engines.ts'
import { useRelayOn } from './use-relay.ts'
import { message, type WireAccount, wireFriends } from './wire.ts'

setDefaultTimeout(60_000) // The relay pings every 5 s.

const relays = engines.map((engine) => useRelayOn(engine))

/** An account that is offline, with a message, a retraction and a read mark waiting for it. */
async function withNews(url: string) {
  const { alice, bob, conv } = await wireFriends(url)
  const { socket: alices } = await alice.online()
  alices.send(message(bob.alias, conv, 'x', 'a1'))
  await alices.next('ack')
  await alices.close()
  const { socket: bobs } = await bob.online()
  bobs.send({ type: 'read', conv_id: conv, seq: 1, to: alice.alias })
  bobs.send({ type: 'retract', id: 'b0', to: alice.alias, conv_id: conv })
  await bobs.next('retract_ack')
  bobs.send(message(alice.alias, conv, 'x', 'b1'))
  await bobs.next('ack')
  return { alice, bob, conv, bobs }
}

const NEWS = ['retract', 'msg', 'read', 'sync_end']

test.concurrent.each([
  ['nothing', 'nothing was said', NEWS],
  ['before', 'frames were said before the pong, and one after it', NEWS],
  ['after', 'two frames were said after the pong', ['msg', 'sync_end']],
] as const)('%s: where %s, the next connection is told %j', async (then, _when, expected) => {
  await Promise.all(
    relays.map(async (relay) => {
      const { alice } = await withNews(relay.url)
      expect(await typesToldTo(alice, then)).toEqual(NEWS)
      expect((await alice.online()).backlog.map(({ type }) => type)).toEqual([...expected])
    }),
  )
})

test.concurrent('what comes after that is told again', async () => {
  await Promise.all(
    relays.map(async (relay) => {
      const { alice, bobs, conv } = await withNews(relay.url)
      await typesToldTo(alice, 'after')
      bobs.send({ type: 'retract', id: 'b2', to: alice.alias, conv_id: conv })
      await bobs.next('retract_ack')
      const { backlog } = await alice.online()
      expect(backlog.map(({ type, id }) => [type, id])).toEqual([
        ['msg', 'b1'],
        ['retract', 'b2'],
        ['sync_end', undefined],
      ])
    }),
  )
})

/** Connects, behaves as named, and says what types of frames the connection began with. */
async function typesToldTo(account: WireAccount, then: 'nothing' | 'before' | 'after'): Promise<string[]> {
  const socket = new PingableSocket(
    `${account.wsUrl()}?user_uuid=${account.uuid}&ticket=${await account.ticket()}`,
    { autoPong: false }, // The ping may come at any moment; what is said before its answer is said before it.
  )
  const types: string[] = []
  let pongs = 0
  socket.on('message', (data) => {
    const { type } = JSON.parse(String(data))
    if (type === 'pong') pongs += 1
    else types.push(type)
  })
  const pinged = new Promise((resolve) => socket.once('ping', resolve))
  const until = async (done: () => boolean) => {
    while (!done()) await Bun.sleep(5)
  }
  const say = async (count: number) => {
    const wanted = pongs + count
    for (let n = 0; n < count; n++) socket.send('{"type":"ping"}')
    await until(() => pongs >= wanted)
  }
  await until(() => types.includes('sync_end'))
  if (then !== 'nothing') {
    await say(5)
    await pinged
    socket.pong()
    await say(then === 'after' ? 2 : 1)
  }
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.close()
  await closed
  return types
}
