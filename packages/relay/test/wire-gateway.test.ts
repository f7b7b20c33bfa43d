// WebSockets whose client misbehaves: bad frames, silence, slow reading. And how the relay stops.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { encodeRawFrame, OPCODES, RawSocket } from './raw.ts'
import { useRelay } from './use-relay.ts'
import { message, wireAccount, wireFriends } from './wire.ts'

const relay = useRelay({ LIMIT_BAD_FRAMES: '3' })

const MOST_BYTES = 256 * 1024

/** A frame of this many bytes. */
function padded(frame: object, bytes: number): string {
  const text = JSON.stringify({ ...frame, more: '' })
  return `${text.slice(0, -2)}${'x'.repeat(bytes - text.length)}"}`
}

describe('a frame', () => {
  test('ping is answered by pong with the relay’s time, and unknown fields are ignored', async () => {
    const { socket } = await (await wireAccount(relay.url)).online()
    const before = Date.now()
    socket.send({ type: 'ping', at: 'never', nested: { deep: [1, 2, 3] }, '': 0 })
    const pong = await socket.next()
    expect(pong).toEqual({ type: 'pong', at: expect.any(Number) })
    expect(pong.at).toBeGreaterThanOrEqual(before)
  })

  test('that is not a JSON object is answered with INVALID_JSON; the third one closes the connection with 1008', async () => {
    for (const bad of [
      '{',
      '[]',
      '"ping"',
      'null',
      '7',
      '',
      '[{"type":"ping"}]',
      '{"type":"ping"} {}',
      '\u0000',
      'ping',
    ]) {
      const { socket } = await (await wireAccount(relay.url)).online()
      for (let times = 1; times <= 3; times++) {
        if (times === 3) expect(await socket.untilPong()).toEqual([]) // The connection is open until then.
        socket.send(bad)
        expect(await socket.next()).toEqual({
          type: 'error',
          error: 'INVALID_JSON',
          message: expect.any(String),
        })
      }
      expect((await socket.closed).code).toBe(1008)
    }
  })

  test('that is binary counts as invalid JSON, even if its bytes are valid JSON', async () => {
    const { socket } = await (await wireAccount(relay.url)).online()
    for (let times = 0; times < 3; times++) socket.socket.send(Buffer.from('{"type":"ping"}'))
    for (const frame of await socket.take(3))
      expect(frame).toMatchObject({ type: 'error', error: 'INVALID_JSON' })
    expect((await socket.closed).code).toBe(1008)
  })

  test('of a type that clients may not send, or of no known type, is UNKNOWN_FRAME and leaves the connection open', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
    const relays = [
      'pong',
      'ack',
      'retract_ack',
      'sync_end',
      'friend_request',
      'friend_accepted',
      'goaway',
      'error',
    ]
    for (const type of [
      ...relays,
      '',
      'MSG',
      'msg ',
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      'x'.repeat(5000),
    ]) {
      alices.send({
        type,
        id: 'i',
        conv_id: conv,
        to: bob.alias,
        seq: 1,
        from: bob.alias,
        reason: 'account_deleted',
      })
      expect(await alices.next()).toEqual({
        type: 'error',
        error: 'UNKNOWN_FRAME',
        message: expect.any(String),
        id: 'i',
        conv_id: conv,
      })
    }
    expect(await bobs.untilPong()).toEqual([])
  })

  test('whose type is missing or not a string is refused with the name of the field', async () => {
    const { socket } = await (await wireAccount(relay.url)).online()
    for (const type of [undefined, null, 7, true, ['ping'], { ping: 1 }]) {
      socket.send({ type })
      expect(await socket.next()).toMatchObject({
        type: 'error',
        error: 'INVALID_FIELD',
        message: expect.stringMatching(/^type must/),
      })
    }
  })

  test('has its id and its conversation shortened when an error repeats them', async () => {
    const { socket } = await (await wireAccount(relay.url)).online()
    socket.send({ type: 'nope', id: '😀'.repeat(1000), conv_id: 'c'.repeat(1000) })
    const { id, conv_id } = await socket.next()
    expect([id.length, conv_id.length]).toEqual([128, 64])
  })

  test('nested a hundred thousand deep is refused, or the nested field is ignored; other connections go on', async () => {
    const { socket } = await (await wireAccount(relay.url)).online()
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    socket.send(deep)
    expect(await socket.next()).toMatchObject({ error: 'INVALID_JSON' })
    socket.send(`{"type":"ping","x":${deep}}`)
    expect(['pong', 'error']).toContain((await socket.next()).type)
    socket.send(`{"type":"nope",${'"a":{'.repeat(20_000)}${'}'.repeat(20_000)}}`)
    expect((await socket.next()).type).toBe('error')
    expect(await (await (await wireAccount(relay.url)).online()).socket.untilPong()).toEqual([])
  })

  test('may be fragmented, with control frames between the fragments', async () => {
    const raw = await RawSocket.open(await wireAccount(relay.url))
    raw.send('{"type":', { fin: false })
    raw.send('hello', { opcode: OPCODES.ping })
    raw.send('"ping"', { opcode: OPCODES.continuation, fin: false })
    raw.send('}', { opcode: OPCODES.continuation })
    await raw.until((text) => text.includes('"pong"') && text.includes('\u008a\u0005hello'))
    raw.socket.destroy()
  })

  test('that is too large is refused by name and does nothing else; the connection stays open', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const [{ socket }, { socket: bobs }] = [await alice.online(), await bob.online()]
    socket.send(padded({ type: 'ping' }, MOST_BYTES))
    expect(await socket.next()).toMatchObject({ type: 'pong' })
    const refusal = {
      ...{ type: 'error', error: 'PAYLOAD_TOO_LARGE' },
      message: `frame must be at most ${MOST_BYTES} bytes`,
    }
    const sent = message(bob.alias, conv, 'x', 'large')
    for (const bytes of [MOST_BYTES + 1, 4 * MOST_BYTES]) {
      socket.send(padded(sent, bytes))
      expect(await socket.next()).toEqual({ ...refusal, id: 'large', conv_id: conv })
    }
    socket.send(padded({ type: 'call_offer', to: bob.alias, call_id: 'c', number: -1.5, x: true }, 300_000))
    expect(await socket.next()).toEqual({ ...refusal, call_id: 'c' })
    // Bytes count, not characters. What follows long or nested members is not looked for.
    const long = 'é'.repeat(MOST_BYTES / 2)
    for (const nameless of [
      JSON.stringify({ type: 'ping', long, id: 'unseen' }),
      `{"nested":{"id":"inner"},"id":"unseen","long":"${long}"}`,
      `["id":"unseen","long":"${long}"]`,
      ' '.repeat(MOST_BYTES + 1),
    ]) {
      socket.send(nameless)
      expect(await socket.next()).toEqual(refusal)
    }
    socket.socket.send(Buffer.alloc(MOST_BYTES + 1))
    expect(await socket.next()).toEqual(refusal)
    expect(await socket.untilPong()).toEqual([])
    expect(await bobs.untilPong()).toEqual([])
  })

  test('of more than four times the limit closes the connection with 1009, whole or fragmented', async () => {
    const { socket } = await (await wireAccount(relay.url)).online()
    socket.send(padded({ type: 'ping' }, 4 * MOST_BYTES + 1))
    expect((await socket.closed).code).toBe(1009)

    const raw = await RawSocket.open(await wireAccount(relay.url))
    const start = (): unknown => raw.send(`{"type":"ping","id":"parts","x":"`, { fin: false })
    const go = (fin: boolean): unknown => raw.send('x'.repeat(60_000), { opcode: OPCODES.continuation, fin })
    start()
    for (let n = 1; n <= 5; n++) go(n === 5)
    await raw.until((text) => text.includes('PAYLOAD_TOO_LARGE') && text.includes('"id":"parts"'))
    start()
    for (let n = 0; n < 18; n++) go(false)
    await raw.ended
    expect(raw.closeCode ?? 1009).toBe(1009)
  })

  test.each([
    ['not masked', encodeRawFrame('{"type":"ping"}', { mask: false })],
    ['of a reserved type', encodeRawFrame('x', { opcode: 3 })],
    ['a continuation without a start', encodeRawFrame('x', { opcode: OPCODES.continuation })],
    ['a fragmented control frame', encodeRawFrame('x', { opcode: OPCODES.ping, fin: false })],
    ['not UTF-8', encodeRawFrame(Buffer.of(0xff, 0xfe))],
    ['a close with a code of one byte', encodeRawFrame(Buffer.of(3), { opcode: OPCODES.close })],
    ['an impossible length', Buffer.concat([Buffer.of(0x81, 0xff), Buffer.alloc(8, 0x7f), Buffer.alloc(4)])],
    ['random bytes', Buffer.from('e38b0a77c21f9d5440aa17', 'hex')],
  ])('that breaks RFC 6455 (%s) ends only its own connection', async (_name, bytes) => {
    const { socket } = await (await wireAccount(relay.url)).online()
    const raw = await RawSocket.open(await wireAccount(relay.url))
    raw.socket.write(bytes)
    raw.send('', { opcode: OPCODES.close })
    await raw.ended
    expect(await socket.untilPong()).toEqual([])
  })
})

describe('silence', () => {
  const impatient = useRelay({ LIMIT_IDLE_SECONDS: '8' })

  test('from the client ends its connection, even while the relay sends to it; a pong in time keeps a connection', async () => {
    const { alice, bob, conv } = await wireFriends(impatient.url)
    const other = await wireAccount(impatient.url)
    const { socket: alices } = await alice.online()
    // Carol sends no frames, only WebSocket pongs.
    const carol = await RawSocket.open(other)
    // Bob reads, but answers no ping and sends nothing. He may have gone away, so frames that are sent to him
    // do not keep his connection.
    const start = performance.now()
    const raw = await RawSocket.open(bob)
    while (!raw.isEnded && performance.now() - start < 40_000) {
      alices.send({ type: 'typing', to: bob.alias, conv_id: conv })
      carol.send('', { opcode: OPCODES.pong })
      await Bun.sleep(500)
    }
    expect(raw.isEnded).toBe(true)
    expect(performance.now() - start).toBeGreaterThan(7000)
    expect(await alices.untilPong()).toEqual([])
    carol.send('{"type":"ping"}')
    await carol.until((text) => text.includes('"pong"'))
    carol.socket.destroy()
  }, 120_000)
})

describe('a slow reader', () => {
  const roomy = useRelay({
    LIMIT_CONVERSATION_PERCENT: '100',
    LIMIT_MAILBOX_BYTES: String(1024 * 1024 * 1024),
    LIMIT_OUTBOUND_BYTES: String(1024 * 1024),
  })

  test('costs the relay no memory: messages wait in the store and arrive in order once the client reads', async () => {
    const { alice, bob, conv } = await wireFriends(roomy.url)
    const { socket } = await alice.online()
    const raw = await RawSocket.open(bob)
    raw.socket.pause()
    const payload = 'A'.repeat(60_000)
    // The first 90 MB fill the store's page cache and the sockets' buffers. A relay that keeps messages for
    // the reader grows by the 180 MB after them. The allocator alone moves by up to 30 MiB on a busy machine.
    const warm = 1500
    const count = warm + 3000
    let before = 0
    for (let sent = 0; sent < count; sent += 100) {
      for (let n = sent; n < sent + 100; n++)
        socket.send({ ...message(bob.alias, conv, '', `<${n}>`), payload })
      await socket.take(100, 'ack')
      if (sent + 100 === warm) before = await roomy.process.memoryMiB()
    }
    expect((await roomy.process.memoryMiB()) - before).toBeLessThan(90)
    // Once the client reads, it gets all messages.
    const ids: string[] = []
    let tail = ''
    const collectIds = (text: string): void => {
      tail += text
      for (const [id] of tail.matchAll(/<\d+>/g)) ids.push(id)
      tail = tail.slice(Math.max(tail.lastIndexOf('>') + 1, tail.length - 16))
    }
    collectIds(raw.text) // A paused socket may already have emitted data.
    raw.socket.removeAllListeners('data')
    raw.socket.on('data', (data: Buffer) => collectIds(data.toString('latin1')))
    raw.socket.resume()
    for (const late = performance.now() + 120_000; ids.length < count && performance.now() < late; )
      await Bun.sleep(10)
    expect(ids).toEqual(Array.from({ length: count }, (_, n) => `<${n}>`))
    raw.socket.destroy()
  }, 240_000) // 270 MB to the relay, and 270 MB to Bob.

  test('is disconnected once too many answers wait for it', async () => {
    const raw = await RawSocket.open(await wireAccount(roomy.url))
    raw.socket.pause()
    const flood = Buffer.concat(
      Array.from({ length: 500 }, () => encodeRawFrame(`{"type":"x","id":"${'i'.repeat(128)}"}`)),
    )
    for (let sent = 0; sent < 600 && !raw.isEnded; sent++) {
      if (!raw.socket.write(flood)) await Promise.race([raw.ended, Bun.sleep(100)])
    }
    raw.socket.resume()
    await raw.ended
    expect(raw.closeCode ?? 1013).toBe(1013)
    expect(memoryOf(roomy.process.pid)).toBeLessThan(400)
  }, 240_000)
})

describe('a relay that is told to stop', () => {
  const stopping = useRelay()

  test('closes every connection with 1012 and without a goaway, exits with 0, and loses no acknowledged message', async () => {
    const { alice, bob, conv } = await wireFriends(stopping.url)
    const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
    await bobs.close()
    const idle = await (await wireAccount(stopping.url)).online()
    for (let n = 0; n < 200; n++) alices.send(message(bob.alias, conv, 'x', `m${n}`))
    await alices.next('ack')
    expect(await stopping.process.kill('SIGTERM')).toBe(0)
    for (const socket of [alices, idle.socket]) {
      expect((await socket.closed).code).toBe(1012)
      expect(socket.frames.filter(({ type }) => type !== 'ack')).toEqual([])
    }
    const acked = 1 + alices.frames.length
    await stopping.process.start()
    const { backlog } = await bob.online()
    const stored = backlog.filter(({ type }) => type === 'msg').map(({ id }) => id)
    expect(stored.length).toBeGreaterThanOrEqual(acked)
    expect(stored).toEqual(Array.from({ length: stored.length }, (_, n) => `m${n}`))
    // The client sends all messages again, as after any reconnection. The stored ones keep their numbers.
    const { socket } = await alice.online()
    for (let n = 0; n < 200; n++) socket.send(message(bob.alias, conv, 'x', `m${n}`))
    expect((await socket.take(200, 'ack')).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 200 }, (_, n) => n + 1),
    )
  })
})

/** Resident memory in MiB. */
function memoryOf(pid: number): number {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1])
  return (pages * 4096) / 1024 / 1024
}
