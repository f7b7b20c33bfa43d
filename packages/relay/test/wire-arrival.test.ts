// Some frames are never confirmed by `delivered`: retractions, read marks. They count as arrived once the
// client has answered a WebSocket ping that followed them and has then sent two more frames.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { WebSocket as PingableSocket } from 'ws'
import { engines } from './engines.ts'
import { eventually } from './payment-watch.ts'
import { useRelayOn } from './use-relay.ts'
import { message, type WireAccount, wireFriends } from './wire.ts'

setDefaultTimeout(240_000) // The relay pings every 5 s.

const relays = engines.map((engine) => useRelayOn(engine))

/** Alice is offline; a message, a retraction and a read mark wait for her. */
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
  ['nothing', 'the client sends nothing', NEWS],
  ['before', 'the client sends frames before the pong and one after it', NEWS],
  ['after', 'the client sends two frames after the pong', ['msg', 'sync_end']],
] as const)('%s: if %s, the next connection receives %j', async (then, _when, expected) => {
  await Promise.all(
    relays.map(async (relay) => {
      const { alice } = await withNews(relay.url)
      expect(await typesReceivedBy(alice, then)).toEqual(NEWS)
      // The relay records the arrival in the background: a connection opened at once may get the frames
      // again.
      await eventually(async () => {
        expect((await alice.online()).backlog.map(({ type }) => type)).toEqual([...expected])
      })
    }),
  )
})

test.concurrent('a retraction sent after the other frames have arrived is delivered on the next connection', async () => {
  await Promise.all(
    relays.map(async (relay) => {
      const { alice, bobs, conv } = await withNews(relay.url)
      await typesReceivedBy(alice, 'after')
      bobs.send({ type: 'retract', id: 'b2', to: alice.alias, conv_id: conv })
      await bobs.next('retract_ack')
      await eventually(async () => {
        const { backlog } = await alice.online()
        expect(backlog.map(({ type, id }) => [type, id])).toEqual([
          ['msg', 'b1'],
          ['retract', 'b2'],
          ['sync_end', undefined],
        ])
      })
    }),
  )
})

/**
 * Connects and sends frames as `then` names it. @returns the types of the frames the connection received,
 * without pongs
 */
async function typesReceivedBy(
  account: WireAccount,
  then: 'nothing' | 'before' | 'after',
): Promise<string[]> {
  const socket = new PingableSocket(
    `${account.wsUrl()}?user_uuid=${account.uuid}&ticket=${await account.ticket()}`,
    { autoPong: false }, // The test sends the pong itself, after the frames it sends before the pong.
  )
  const types: string[] = []
  let [pongs, pings, earlyPings] = [0, 0, 0]
  socket.on('message', (data) => {
    const { type } = JSON.parse(String(data))
    if (type === 'pong') pongs += 1
    else types.push(type)
    if (type === 'sync_end') earlyPings = pings
  })
  socket.on('ping', () => {
    pings += 1
  })
  const until = async (done: () => boolean) => {
    while (!done()) await Bun.sleep(5)
  }
  const sendPings = async (count: number) => {
    const wanted = pongs + count
    for (let n = 0; n < count; n++) socket.send('{"type":"ping"}')
    await until(() => pongs >= wanted)
  }
  await until(() => types.includes('sync_end'))
  // The marks follow the first sync, which has a `sync_end` of its own, or come a second after the backlog.
  types.splice(types.indexOf('sync_end'), 1)
  socket.send('{"type":"sync","receipts":"by_seq"}')
  await until(() => types.includes('sync_end'))
  if (then !== 'nothing') {
    await sendPings(5)
    // The relay pings every connection at the same moment. A ping that left before the marks did is not for
    // them: another one follows once its pong and two frames have come.
    const answers = then === 'after' ? earlyPings + 1 : 1
    for (let answered = 0; answered < answers; answered++) {
      await until(() => pings > answered)
      socket.pong()
      await sendPings(then === 'after' ? 2 : 1)
    }
  }
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.close()
  await closed
  return types
}
