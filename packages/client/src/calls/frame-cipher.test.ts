// Encrypted call frames: no frame is sent or shown without a key, no frame is shown twice, and late frames of
// the previous epoch are shown.
import { expect, test } from 'bun:test'
import { FrameDecryptor, FrameEncryptor } from './frame-cipher.ts'

const key = (fill: number): Uint8Array => new Uint8Array(44).fill(fill)
const frame = (fill: number): Uint8Array => new Uint8Array(50).fill(fill)

function encryptor(framesPerEpoch = 100): { encryptor: FrameEncryptor; spent: () => number } {
  let spent = 0
  const made = new FrameEncryptor(framesPerEpoch, () => {
    spent += 1
  })
  return { encryptor: made, spent: () => spent }
}

async function sent(by: FrameEncryptor, plain: Uint8Array): Promise<Uint8Array> {
  const encrypted = await by.transform(plain)
  if (!encrypted) throw new Error('the frame was not sent')
  return encrypted
}

test('without a key, no frame is sent and no frame is shown', async () => {
  const { encryptor: alice } = encryptor()
  expect(await alice.transform(frame(1))).toBeUndefined()
  alice.use(key(1))
  expect(await new FrameDecryptor().transform(await sent(alice, frame(1)))).toBeUndefined()
})

test('each sent frame is shown once, in any order of arrival', async () => {
  const { encryptor: alice } = encryptor()
  const bob = new FrameDecryptor()
  alice.use(key(1))
  bob.use(key(1))
  const frames = [await sent(alice, frame(1)), await sent(alice, frame(2)), await sent(alice, frame(3))]
  for (const at of [2, 0, 1]) {
    expect(await bob.transform(frames[at] ?? frame(0))).toEqual(frame(at + 1) as never)
    expect(await bob.transform(frames[at] ?? frame(0))).toBeUndefined()
  }
})

test('altered, truncated, empty and plain frames and frames of another key are not shown', async () => {
  const { encryptor: alice } = encryptor()
  const bob = new FrameDecryptor()
  alice.use(key(1))
  bob.use(key(1))
  const whole = await sent(alice, frame(1))
  const altered = whole.slice()
  altered[20] = (altered[20] ?? 0) ^ 1
  for (const bad of [altered, whole.subarray(0, -1), whole.subarray(0, 23), new Uint8Array(), frame(1)])
    expect(await bob.transform(bad)).toBeUndefined()
  alice.use(key(2))
  expect(await bob.transform(await sent(alice, frame(1)))).toBeUndefined()
  expect(await bob.transform(whole)).toEqual(frame(1) as never)
})

test('a late frame of the previous epoch is shown, and a frame of the epoch before that is not', async () => {
  const { encryptor: alice } = encryptor()
  const bob = new FrameDecryptor()
  const frames: Uint8Array[] = []
  for (const epoch of [1, 2, 3]) {
    alice.use(key(epoch))
    bob.use(key(epoch))
    frames.push(await sent(alice, frame(epoch)))
  }
  const shown = await Promise.all(frames.map((each) => bob.transform(each)))
  expect(shown).toEqual([undefined, frame(2), frame(3)] as never)
})

test('the encryptor reports once that a key is used up, and counts again from zero with the next key', async () => {
  const { encryptor: alice, spent } = encryptor(3)
  alice.use(key(1))
  for (let n = 0; n < 10; n += 1) await sent(alice, frame(n))
  expect(spent()).toBe(1)
  alice.use(key(2))
  for (let n = 0; n < 2; n += 1) await sent(alice, frame(n))
  expect(spent()).toBe(1)
  await sent(alice, frame(2))
  expect(spent()).toBe(2)
})
