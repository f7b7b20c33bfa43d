import { describe, expect, test } from 'bun:test'
import { gcm } from '@noble/ciphers/aes.js'
import fc from 'fast-check'
import { anyBytes, codeOf, expectCode, flipBit, sessionKey, vectors } from '../test/expectations.ts'
import { encodeUtf8 } from './bytes.ts'
import {
  CALL_FRAME_OVERHEAD_BYTES,
  CALL_REPLAY_WINDOW,
  CallFrameReceiver,
  CallFrameSender,
  decryptCallFrame,
  deriveCallMediaKey,
  encryptCallFrame,
  ReplayWindow,
} from './call-media.ts'
import { bytesToHex, hexToBytes } from './hex.ts'

const { call_id: callId, from: senderAlias, ...keys } = vectors.call_media_key
const keyMaterial = hexToBytes(keys.mid_0_epoch_1)

describe('the derived key material equals the vectors', () => {
  for (const [name, expected] of Object.entries(keys)) {
    test(name, async () => {
      const [, mid = '', epoch = ''] = /^mid_(\d+)_epoch_(\d+)$/.exec(name) ?? []
      expect(
        bytesToHex(await deriveCallMediaKey({ sessionKey, callId, senderAlias, mid, epoch: Number(epoch) })),
      ).toBe(expected)
    })
  }
})

test('key material is not derived from ambiguous info, an invalid epoch or a key of the wrong size', async () => {
  const good = { sessionKey, callId, senderAlias, mid: '0', epoch: 1 }
  await expectCode('INVALID_ARGUMENT', () => deriveCallMediaKey({ ...good, senderAlias: 'a|b' }))
  for (const epoch of [0, -1, 1.5, Number.NaN])
    await expectCode('INVALID_ARGUMENT', () => deriveCallMediaKey({ ...good, epoch }))
  for (const empty of ['callId', 'senderAlias', 'mid']) {
    await expectCode('INVALID_ARGUMENT', () => deriveCallMediaKey({ ...good, [empty]: '' }))
  }
  await expectCode('INVALID_KEY', () => deriveCallMediaKey({ ...good, sessionKey: new Uint8Array(31) }))
})

test('a frame is the big-endian counter, then AES-256-GCM with the base IV XOR the little-endian counter', async () => {
  const counter = 0x0102030405060708n
  const frame = await encryptCallFrame({ keyMaterial, counter, plaintext: encodeUtf8('frame') })
  expect(bytesToHex(frame.subarray(0, 8))).toBe('0102030405060708')

  const iv = new Uint8Array(keyMaterial.subarray(32))
  for (let index = 0; index < 8; index += 1) iv[index] = (iv[index] ?? 0) ^ (8 - index)
  const expected = gcm(keyMaterial.subarray(0, 32), iv).encrypt(encodeUtf8('frame'))
  expect(frame.subarray(8)).toEqual(expected)
  expect(frame).toHaveLength(5 + CALL_FRAME_OVERHEAD_BYTES)
})

test('any frame decrypts to its plaintext and counter, and the key material is not changed', async () => {
  const counters = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
  const material = Buffer.from(keyMaterial)
  await fc.assert(
    fc.asyncProperty(counters, anyBytes(), async (counter, plaintext) => {
      const frame = await encryptCallFrame({ keyMaterial: material, counter, plaintext })
      expect(await decryptCallFrame({ keyMaterial, frame })).toEqual({
        counter,
        plaintext: new Uint8Array(plaintext),
      })
    }),
  )
  expect(bytesToHex(material)).toBe(keys.mid_0_epoch_1)
})

test('a frame with any flipped bit, counter included, or with any missing byte is refused', async () => {
  const frame = await encryptCallFrame({ keyMaterial, counter: 7n, plaintext: encodeUtf8('frame') })
  for (let bit = 0; bit < frame.length * 8; bit += 1) {
    await expectCode('DECRYPTION_FAILED', () => decryptCallFrame({ keyMaterial, frame: flipBit(frame, bit) }))
  }
  for (let length = 0; length < frame.length; length += 1) {
    await expectCode('DECRYPTION_FAILED', () =>
      decryptCallFrame({ keyMaterial, frame: frame.subarray(0, length) }),
    )
  }
})

test('a receiver accepts each frame once, in any order within the window', async () => {
  const sender = new CallFrameSender(keyMaterial)
  const receiver = new CallFrameReceiver(keyMaterial)
  const frames = await Promise.all(
    Array.from({ length: 50 }, (_, index) => sender.encrypt(new Uint8Array([index]))),
  )
  for (const [index, frame] of [...frames.entries()].reverse())
    expect(await receiver.decrypt(frame)).toEqual(new Uint8Array([index]))
  for (const frame of frames) await expectCode('REPLAYED', () => receiver.decrypt(frame))
})

test('a frame decrypted several times at once is accepted once', async () => {
  const receiver = new CallFrameReceiver(keyMaterial)
  const frame = await encryptCallFrame({ keyMaterial, counter: 5n, plaintext: new Uint8Array(1) })
  const codes = await Promise.all([1, 2, 3].map(() => codeOf(() => receiver.decrypt(frame))))
  expect(codes.sort()).toEqual(['REPLAYED', 'REPLAYED', undefined])
})

test('a forged frame does not move the replay window', async () => {
  const receiver = new CallFrameReceiver(keyMaterial)
  const forged = await encryptCallFrame({
    keyMaterial: flipBit(keyMaterial, 0),
    counter: 2n ** 60n,
    plaintext: new Uint8Array(1),
  })
  await expectCode('DECRYPTION_FAILED', () => receiver.decrypt(forged))
  const frame = await encryptCallFrame({ keyMaterial, counter: 0n, plaintext: new Uint8Array(1) })
  expect(await receiver.decrypt(frame)).toEqual(new Uint8Array(1))
})

test('no two frames of a sender have the same counter', async () => {
  const sender = new CallFrameSender(keyMaterial)
  const frames = await Promise.all(Array.from({ length: 300 }, () => sender.encrypt(new Uint8Array(0))))
  const counters = frames.map((frame) => bytesToHex(frame.subarray(0, 8)))
  expect(new Set(counters).size).toBe(300)
  expect(counters[0]).toBe('0000000000000000')
})

test('the replay window gives the same answers as a list of all counters', () => {
  const near = fc.bigInt({ min: 0n, max: 3000n })
  const counters = fc.array(
    fc.oneof({ weight: 20, arbitrary: near }, fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
    { maxLength: 200 },
  )
  fc.assert(
    fc.property(counters, (sequence) => {
      const window = new ReplayWindow()
      const seen = new Set<bigint>()
      let highest = -1n
      for (const counter of sequence) {
        const known = counter > highest - BigInt(CALL_REPLAY_WINDOW)
        expect(window.isFresh(counter)).toBe(known && !seen.has(counter))
        if (!window.isFresh(counter)) continue
        window.add(counter)
        seen.add(counter)
        if (counter > highest) highest = counter
      }
    }),
  )
})

test('any bytes that are not a frame, and invalid keys and counters, are refused', async () => {
  await fc.assert(
    fc.asyncProperty(anyBytes(), async (frame) => {
      expect(await codeOf(() => new CallFrameReceiver(keyMaterial).decrypt(frame))).toBe('DECRYPTION_FAILED')
    }),
  )
  await expectCode('INVALID_KEY', () => new CallFrameReceiver(new Uint8Array(32)))
  await expectCode('INVALID_KEY', () => new CallFrameSender(new Uint8Array(43)))
  for (const counter of [-1n, 2n ** 64n]) {
    await expectCode(
      'INVALID_ARGUMENT',
      async () => await encryptCallFrame({ keyMaterial, counter, plaintext: new Uint8Array(0) }),
    )
  }
})
