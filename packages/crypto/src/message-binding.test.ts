import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { accountKeys, anyBytes, codeOf, expectCode, flipBit, vectors } from '../test/expectations.ts'
import { bytesToHex } from './hex.ts'
import {
  BINDING_BYTES,
  type BindingContext,
  decodeBinding,
  encodeBinding,
  hashOfMessage,
  MESSAGE_HASH_BYTES,
} from './message-binding.ts'

const [alice, bob] = [accountKeys(vectors.session.a), accountKeys(vectors.session.b)]
const context: BindingContext = {
  conversationId: vectors.session.conv_id,
  messageId: 'm-1',
  sender: alice,
  recipient: bob,
}
const previous = await hashOfMessage(Uint8Array.of(1))
const seen = await hashOfMessage(Uint8Array.of(2))

test('a binding names the place of a message, in 49 bytes', async () => {
  for (const place of [{}, { previous }, { seen }, { previous, seen }]) {
    const binding = await encodeBinding({ ...context, ...place })
    expect(binding.length).toBe(BINDING_BYTES)
    expect(await decodeBinding(binding, context)).toEqual(place)
  }
  expect(BINDING_BYTES).toBe(49)
})

test('the binding of any other message is refused', async () => {
  const binding = await encodeBinding({ ...context, previous, seen })
  for (const other of [
    { messageId: 'm-2' },
    { conversationId: `${context.conversationId}x` },
    // Characters that move from one text to the next.
    { conversationId: `${context.conversationId}m`, messageId: '-1' },
    { sender: bob, recipient: alice },
    { sender: { ...alice, x25519: bob.x25519 } },
    { sender: { ...alice, ed25519: bob.ed25519 } },
    { recipient: { ...bob, x25519: alice.x25519 } },
    { recipient: { ...bob, ed25519: alice.ed25519 } },
  ])
    expect([other, await codeOf(() => decodeBinding(binding, { ...context, ...other }))]).toEqual([
      other,
      'DECRYPTION_FAILED',
    ])
})

test('another format and another length are refused', async () => {
  const binding = await encodeBinding({ ...context, previous })
  for (let length = 0; length < binding.length; length += 1)
    await expectCode('INVALID_ENCODING', () => decodeBinding(binding.subarray(0, length), context))
  await expectCode('INVALID_ENCODING', () => decodeBinding(Uint8Array.of(...binding, 0), context))
  for (const format of [0, 2, 0x81])
    await expectCode('INVALID_ENCODING', () =>
      decodeBinding(Uint8Array.of(format, ...binding.subarray(1)), context),
    )
  await expectCode('INVALID_ENCODING', () => decodeBinding('text' as never, context))
  await fc.assert(
    fc.asyncProperty(anyBytes(60), async (bytes) => {
      expect(['INVALID_ENCODING', 'DECRYPTION_FAILED']).toContain(
        (await codeOf(() => decodeBinding(bytes, context))) ?? 'accepted',
      )
    }),
  )
})

test('every bit of a binding changes what it says', async () => {
  const binding = await encodeBinding({ ...context, previous, seen })
  for (let bit = 0; bit < binding.length * 8; bit += 1) {
    const read = decodeBinding(flipBit(binding, bit), context).catch(String)
    expect(await read).not.toEqual({ previous, seen })
  }
})

test('the hash of a message is the start of its SHA-256', async () => {
  // FIPS 180-4: the SHA-256 of "abc".
  expect(bytesToHex(await hashOfMessage(Uint8Array.of(97, 98, 99)))).toBe('ba7816bf8f01cfea414140de5dae2223')
  expect(previous.length).toBe(MESSAGE_HASH_BYTES)
})

test('invalid arguments are refused', async () => {
  for (const wrong of [
    { conversationId: '' },
    { messageId: '' },
    { previous: new Uint8Array(32) },
    { seen: new Uint8Array(15) },
  ])
    expect([wrong, await codeOf(() => encodeBinding({ ...context, ...wrong }))]).toEqual([
      wrong,
      'INVALID_ARGUMENT',
    ])
  const short = { ...alice, x25519: new Uint8Array(31) }
  await expectCode('INVALID_KEY', () => encodeBinding({ ...context, sender: short }))
  await expectCode('INVALID_ARGUMENT', () => hashOfMessage('text' as never))
})
