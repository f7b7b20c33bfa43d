// One account that sends too many bytes: its frames wait, and it gives way before others notice.
import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { candidate } from './call-frames.ts'
import { encodeRawFrame, OPCODES, RawSocket, requestOf } from './raw.ts'
import { untilLogged } from './until-logged.ts'
import { useRelay } from './use-relay.ts'
import { befriend, message, type WireAccount, type WireSocket, wireAccount, wireFriends } from './wire.ts'

const plain = useRelay({ RATE_LIMITS: 'on' })

describe('bytes', () => {
  // Refilled slowly, so that a busy machine reads a ping before the wait of a frame in front of it is over.
  const relay = useRelay({ RATE_LIMITS: 'on', RATE_FRAME_BYTES: '150000/4', RATE_CALL_BYTES: '100000/3600' })

  test('that come too fast wait before they are parsed, in order; pings are answered meanwhile', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket } = await alice.online()
    const payload = 'A'.repeat(60_000)
    for (const id of ['one', 'two', 'three']) socket.send({ ...message(bob.alias, conv, '', id), payload })
    socket.send(`{"type":"msg",${' '.repeat(60_000)}`) // Not JSON, which shows as soon as it is parsed.
    socket.send(message(bob.alias, conv, 'small', 'four'))
    socket.send({ type: 'ping' })
    const order = (await socket.take(6)).map(({ type, id, error }) => id ?? error ?? type)
    expect(order.filter((name) => name !== 'pong' && name !== 'INVALID_JSON')).toEqual([
      'one',
      'two',
      'three',
      'four',
    ])
    expect(order.indexOf('pong')).toBeLessThan(order.indexOf('three'))
    expect(order.indexOf('pong')).toBeLessThan(order.indexOf('INVALID_JSON'))
  })

  test('of a frame that is larger than the rate are counted too: it is not refused, and the next one waits for it', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket } = await alice.online()
    socket.send({ ...message(bob.alias, conv, 'x', 'large'), more: 'x'.repeat(200_000) })
    socket.send(message(bob.alias, conv, 'x', 'small'))
    socket.send({ type: 'ping' })
    const order = (await socket.take(3)).map(({ type, id }) => id ?? type)
    expect(order.indexOf('pong')).toBeLessThan(order.indexOf('small'))
    expect(order.filter((name) => name !== 'pong')).toEqual(['large', 'small'])
  })

  test('of a frame that is refused for its size are counted too', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket } = await alice.online()
    socket.send(`{"type":"msg","id":"refused","x":"${'x'.repeat(400_000)}"}`)
    socket.send(message(bob.alias, conv, 'x', 'small'))
    socket.send({ type: 'ping' })
    const order = (await socket.take(3)).map(({ type, id }) => id ?? type)
    expect(order.indexOf('pong')).toBeLessThan(order.indexOf('small'))
    expect(order.filter((name) => name !== 'pong')).toEqual(['refused', 'small'])
  })

  test('of call frames have a rate of their own: a friend gets no more of them, and messages go on', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
    const ballast = 'x'.repeat(40_000)
    for (let n = 0; n < 6; n++) alices.send(candidate(n, [alice, bob], { ballast }))
    await bobs.take(2, 'call_ice')
    for (let n = 0; n < 10; n++) {
      alices.send(message(bob.alias, conv, 'x'))
      await bobs.next('msg')
    }
    expect(bobs.frames.filter(({ type }) => type === 'call_ice')).toEqual([])
  })
})

test('a connection that sends many requests at once is closed at the second', async () => {
  // Otherwise a few connections that each send thousands would make everybody else wait.
  for (const line of ['GET /health', 'GET /openapi.json', 'GET /nope', 'OPTIONS /api/v1/me']) {
    const request = requestOf(line, { connection: 'keep-alive' })
    const answers = await answersTo(plain.url, request.repeat(100))
    expect([line, answers.length]).toEqual([line, 2])
    expect(answers[1]).toMatch(/^connection: close\r$/im)
  }
})

test('more pongs than pings may come at once close the connection', async () => {
  const raw = await RawSocket.open(await wireAccount(plain.url))
  const pong = encodeRawFrame('', { opcode: OPCODES.pong })
  raw.socket.write(Buffer.concat(Array.from({ length: 1000 }, () => pong)))
  raw.send('{"type":"ping"}')
  await raw.until((text) => text.includes('"pong"'))
  raw.socket.write(Buffer.concat(Array.from({ length: 3000 }, () => pong)))
  await raw.ended
  expect(raw.closeCode).toBe(1013)
})

describe('frames that wait', () => {
  const relay = useRelay({ RATE_LIMITS: 'on', RATE_MESSAGE: '1/3600', LIMIT_ALL_HELD_BYTES: '1048576' })

  test('have one limit for all connections: the one that holds the most is closed with 1013, and no other', async () => {
    const bob = await wireAccount(relay.url)
    const floods: WireSocket[] = []
    const flood = async (frames: number): Promise<WireSocket> => {
      const alice = await wireAccount(relay.url)
      const conv = await befriend(alice, bob)
      const socket = await alice.connect()
      await fill(socket, bob, conv, frames)
      floods.push(socket)
      return socket
    }
    const modest = await flood(2)
    const most = await flood(10)
    const middle = await flood(4)
    expect(await modest.untilPong()).toEqual([]) // Nothing has given way yet.
    const last = await flood(3)
    expect((await most.closed).code).toBe(1013)
    expect(most.frames).toEqual([])
    for (const socket of [modest, middle, last]) expect(await socket.untilPong()).toEqual([])
    await untilLogged(relay.process, 'held_frames_full')
    expect(relay.process.errors().split('held_frames_full').length - 1).toBe(1)
    // What the other connection held is free again.
    await flood(4)
    for (const socket of [modest, middle, last]) expect(await socket.untilPong()).toEqual([])
  })
})

/**
 * Sends one message that is accepted and then some of 61 KB that wait. Returns after the relay has read them.
 */
async function fill(socket: WireSocket, to: WireAccount, conv: string, frames: number): Promise<void> {
  await socket.untilSynced()
  socket.send(message(to.alias, conv, 'x'))
  await socket.next('ack')
  for (let n = 0; n < frames; n++)
    socket.send({ ...message(to.alias, conv, ''), payload: 'A'.repeat(61_000) })
  await Promise.race([socket.untilPong(), socket.closed])
}

describe('a friend who types all the time', () => {
  const relay = useRelay({ LIMIT_OUTBOUND_BYTES: '278528', LIMIT_WINDOW_BYTES: '16384' })

  test('does not disconnect somebody who reads slowly', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const { socket: alices } = await alice.online()
    const deaf = await RawSocket.open(bob)
    deaf.socket.pause()
    const typing = JSON.stringify({ type: 'typing', to: bob.alias, conv_id: conv })
    // More than the system buffers.
    for (let n = 0; n < 60_000; n++) {
      alices.send(typing)
      if (n % 1000 === 0) await alices.untilPong()
    }
    alices.send(message(bob.alias, conv, 'still there?', 'the-message'))
    await alices.next('ack')
    deaf.socket.resume()
    await deaf.until((text) => text.includes('the-message'), 60_000)
    expect(deaf.isEnded).toBe(false)
    deaf.socket.destroy()
  })
})

/** Sends bytes and waits until the relay ends the connection. @returns its answers */
async function answersTo(relayUrl: string, bytes: string): Promise<string[]> {
  const { hostname, port } = new URL(relayUrl)
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.on('data', (data: Buffer) => {
    text += data.toString('latin1')
  })
  socket.on('error', () => undefined) // A reset counts as the end; `close` follows it.
  socket.write(bytes)
  await new Promise((resolve) => socket.once('close', resolve))
  return text.split(/(?=HTTP\/1\.1 \d)/)
}
