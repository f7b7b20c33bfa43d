// The example of RFC 8291, and decryption in the browser's role with newly generated keys.
import { expect, test } from 'bun:test'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { readPush, subscriber } from '../../test/push-subscriber.ts'
import { systemRandom } from '../operations/random.ts'
import { generatePrivateKey, isPublicKey, publicKeyOf } from './p256.ts'
import { encryptPush } from './push-encryption.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text, 'base64url')
const text = (of: Uint8Array): string => Buffer.from(of).toString('base64url')

test('reproduces the example of RFC 8291, section 5, byte for byte', () => {
  const body = encryptPush(
    'When I grow up, I want to be a watermelon',
    {
      p256dh: bytes(
        'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
      ),
      auth: bytes('BTBZMqHH6r4Tts7J_aSIgg'),
    },
    {
      privateKey: bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'),
      salt: bytes('DGv6ra1nlYgDCS1FRnbzlw'),
    },
  )
  expect(text(body)).toBe(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  )
})

test('the browser’s key decrypts it, and a changed message is refused', async () => {
  const browser = await subscriber('https://push.example/1')
  const fresh = { privateKey: generatePrivateKey(systemRandom), salt: systemRandom(16) }
  const keys = { p256dh: bytes(browser.body.keys.p256dh), auth: bytes(browser.body.keys.auth) }
  const body = encryptPush('{"type":"call"}', keys, fresh)
  expect(await readPush(browser, body)).toBe('{"type":"call"}')
  body[body.length - 1] = (body[body.length - 1] ?? 0) ^ 1
  expect(await failureOf(readPush(browser, body))).toBeInstanceOf(Error)
})

test('refuses a key that is not a point on the curve', () => {
  expect(isPublicKey(publicKeyOf(generatePrivateKey(systemRandom)))).toBe(true)
  const outside = Buffer.alloc(65, 7)
  outside[0] = 4
  for (const bad of [outside, Buffer.alloc(65), Buffer.of(0), Buffer.alloc(0), Buffer.alloc(33, 2)]) {
    expect(isPublicKey(bad)).toBe(false)
  }
})

test('draws again if the random bytes are not a valid private key', () => {
  const draws = [new Uint8Array(32), new Uint8Array(32).fill(255), new Uint8Array(32).fill(1)]
  expect(generatePrivateKey(() => draws.shift() ?? new Uint8Array(32))).toEqual(new Uint8Array(32).fill(1))
  expect(() => generatePrivateKey((length) => new Uint8Array(length))).toThrow('no private key')
})
