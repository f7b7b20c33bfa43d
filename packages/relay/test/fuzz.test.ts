// Arbitrary and mutated input against a running relay: it answers, reveals nothing of its internals, and
// keeps working.
import { beforeAll, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { anyCharacter } from '../../protocol/test/any-character.ts'
import { encodeRawFrame, OPCODES, RawSocket, rawHttp, requestOf } from './raw.ts'
import { useRelay } from './use-relay.ts'
import { call, message, type WireAccount, type WireSocket, wireFriends } from './wire.ts'

// Text that looks like the relay's code, a file name, a query or a stack trace.
const INTERNALS =
  /\b(?:at .+:\d+:\d+|node_modules|\.ts\b|SELECT|INSERT|UPDATE|sqlite|postgres|valibot|TypeError|undefined|\[object)/i

const relay = useRelay({ LIMIT_BAD_FRAMES: '1000' })
const frameWords = [
  'ping',
  'sync',
  'msg',
  'delivered',
  'read',
  'typing',
  'retract',
  'ack',
  'goaway',
  'call_offer',
]
let alice: WireAccount
let bob: WireAccount
let conv: string
let alices: WireSocket

beforeAll(async () => {
  ;({ alice, bob, conv } = await wireFriends(relay.url))
  alices = (await alice.online()).socket
})

/** Expects the relay to answer, store and deliver a valid message. */
async function expectAlive(): Promise<void> {
  expect((await call(`${relay.url}/health`)).status).toBe(200)
  if (alices.socket.readyState !== WebSocket.OPEN) alices = (await alice.online()).socket
  const frame = message(bob.alias, conv, 'still there')
  alices.send(frame)
  for (;;) {
    const answer = await alices.next()
    if (answer.type === 'ack' && answer.id === frame.id) break
  }
  const { socket, backlog } = await bob.online()
  const last = backlog.findLast(({ type }) => type === 'msg')
  expect(last).toMatchObject({ id: frame.id })
  socket.send({ type: 'delivered', conv_id: conv, seq: last.seq, to: alice.alias })
  await alices.next('delivered')
  await socket.close()
}

function expectRevealsNothing(text: string): void {
  expect(text).not.toMatch(INTERNALS)
}

/**
 * Ignores the ids that the test chose at random and the frame repeats: some of them look like a file name.
 */
function expectFrameRevealsNothing(frame: object): void {
  expectRevealsNothing(JSON.stringify({ ...frame, id: undefined, conv_id: undefined, call_id: undefined }))
}

test('any bytes in text and binary frames are answered with an error or not at all', async () => {
  const raw = await RawSocket.open(alice)
  const anything = fc.oneof(fc.string({ unit: anyCharacter() }), fc.json(), fc.string({ unit: 'grapheme' }))
  await fc.assert(
    fc.property(anything, fc.boolean(), (text, isBinary) => {
      raw.send(Buffer.from(text), { opcode: isBinary ? OPCODES.binary : OPCODES.text })
    }),
    { numRuns: 300 },
  )
  raw.send('{"type":"ping"}')
  await raw.until((text) => text.includes('"pong"'))
  expectRevealsNothing(raw.text)
  raw.socket.destroy()
  await expectAlive()
})

test('frames with arbitrary values in their fields never cause an internal error, and the connection keeps working', async () => {
  const { socket } = await alice.online()
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(
      conv,
      bob.alias,
      alice.alias,
      '',
      0,
      -1,
      1,
      1.5,
      1e308,
      2 ** 53,
      'A===',
      'AAAA',
      '__proto__',
      '\u0000',
    ),
  )
  const fields = [
    'id',
    'to',
    'conv_id',
    'crypto_v',
    'payload',
    'seq',
    'from',
    'at',
    '__proto__',
    'constructor',
    'call_id',
  ]
  const mutated = fc.record(
    {
      type: fc.constantFrom(...frameWords),
      ...Object.fromEntries(fields.map((field) => [field, value])),
    },
    { requiredKeys: ['type'] },
  )
  let sent = 0
  await fc.assert(
    fc.property(mutated, (frame) => {
      socket.send(JSON.stringify(frame))
      sent += 1
    }),
    { numRuns: 1500 },
  )
  expect(sent).toBe(1500)
  socket.send({ type: 'ping' })
  for (let pongs = 0; ; ) {
    const frame = await socket.next()
    expectFrameRevealsNothing(frame)
    expect(['error', 'pong', 'ack', 'retract_ack', 'sync_end', 'read', 'delivered', 'msg']).toContain(
      frame.type,
    )
    if (frame.type === 'error') expect(frame.error).not.toBe('INTERNAL')
    if (frame.type === 'pong') pongs += 1
    if (socket.frames.length === 0 && pongs > 0) break
  }
  await socket.close()
  await expectAlive()
})

test('valid frames that are cut or changed never cause an internal error', async () => {
  const { socket } = await alice.online()
  const valid = [
    JSON.stringify(message(bob.alias, conv, 'hello', 'mutant')),
    JSON.stringify({ type: 'read', conv_id: conv, seq: 1, to: bob.alias }),
    JSON.stringify({ type: 'retract', id: 'mutant', conv_id: conv, to: bob.alias }),
  ]
  const change = fc.tuple(
    fc.constantFrom(...valid),
    fc.nat(400),
    fc.nat(400),
    fc.string({ maxLength: 8, unit: anyCharacter() }),
  )
  const mutants = change.map(
    ([text, at, length, insert]) => text.slice(0, at) + insert + text.slice(at + (length % 5)),
  )
  await fc.assert(
    fc.property(mutants, (text) => socket.send(text)),
    { numRuns: 600 },
  )
  socket.send({ type: 'ping' })
  await socket.next('pong')
  for (const frame of socket.frames) {
    expectFrameRevealsNothing(frame)
    expect(frame.error).not.toBe('INTERNAL')
  }
  await socket.close()
  await expectAlive()
})

test('any bytes on the socket after the upgrade end at most that connection, and the relay keeps working', async () => {
  for (const bytes of fc.sample(fc.uint8Array({ minLength: 1, maxLength: 200 }), 25)) {
    const raw = await RawSocket.open(alice)
    raw.socket.write(bytes)
    raw.socket.end(encodeRawFrame('', { opcode: OPCODES.close }))
    await raw.ended
  }
  await expectAlive()
})

test('any path, method, header and body is answered with a status below 500 and a problem document without internals', async () => {
  const segment = fc.oneof(
    fc.constantFrom(
      'api',
      'v1',
      'me',
      'friends',
      'users',
      'blocks',
      'register',
      'auth',
      'challenge',
      'request',
      'accept',
      '..',
      '1',
      'ws',
    ),
    fc.string({ maxLength: 12 }).map(encodeURIComponent),
    fc.constantFrom('%00', '%ff', '%', '%2f', ';', '[', "'"),
  )
  const path = fc.array(segment, { maxLength: 5 }).map((parts) => `/${parts.join('/')}`)
  const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE')
  const body = fc.oneof(fc.constant(''), fc.json(), fc.string({ unit: anyCharacter() }))
  await fc.assert(
    fc.asyncProperty(path, method, body, fc.boolean(), async (where, verb, text, isAuthorized) => {
      if (verb === 'DELETE' && where.endsWith('/me')) return // It would really delete the account.
      const data = Buffer.from(text)
      const headers: Record<string, string> = { 'content-length': String(data.length) }
      if (isAuthorized) Object.assign(headers, alice.authorized())
      const answer = await rawHttp(
        relay.url,
        Buffer.concat([Buffer.from(requestOf(`${verb} ${where}`, headers)), data]),
      )
      expect(answer.status).toBeGreaterThan(0)
      expect(answer.status).toBeLessThan(500)
      if (answer.status < 400 || answer.body === '') return
      expectRevealsNothing(answer.body)
      const problem = JSON.parse(answer.body)
      expect(problem.status).toBe(answer.status)
      if (answer.status !== 409) expect(answer.body).not.toContain('409')
    }),
    { numRuns: 250 },
  )
  await expectAlive()
})

test('any fields in request bodies are accepted or refused with the name of the field', async () => {
  const paths = ['/register', '/auth/challenge', '/auth/verify', '/friends/request']
  const fields = [
    'ed25519_public_key',
    'x25519_public_key',
    'nickname',
    'pow_nonce',
    'pow_challenge',
    'user_uuid',
    'challenge',
    'signature',
    'to_alias_id',
  ]
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(alice.ed25519, alice.uuid, bob.alias, alice.sign('x'), '\u0000', '\ud800'),
  )
  const record = fc.record(Object.fromEntries(fields.map((field) => [field, value])), { requiredKeys: [] })
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), record, async (where, body) => {
      const answer = await alice.post(where, body)
      expect(answer.status).toBeLessThan(500)
      if (answer.status !== 400) return
      expectRevealsNothing(answer.text)
      if (answer.body.error === 'INVALID_FIELD') expect(fields).toContain(answer.body.field)
    }),
    { numRuns: 300 },
  )
  await expectAlive()
})
