// A bucket whose store takes connections and does not answer: each step ends with one sentence.
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { type BadWay, startBadWay } from '../../test/bad-way.ts'
import { startSwift } from '../../test/swift-server.ts'
import type { Pieces } from './backup-place.ts'
import { S3Place } from './s3-place.ts'

setDefaultTimeout(240_000)

const MIB = 1024 * 1024

let way: BadWay
/** A place that waits for so long, at the end of the way. */
let placeThatWaits: (milliseconds: number) => S3Place

beforeAll(async () => {
  const { endpoint, bucket, ...keys } = await startSwift()
  way = await startBadWay(endpoint)
  const path = `s3://${bucket}/${crypto.randomUUID()}`
  placeThatWaits = (milliseconds) => new S3Place(path, { ...keys, endpoint: way.url }, milliseconds)
}, 240_000)
afterEach(() => way.mend())
afterAll(() => way.stop())

async function* pieces(...sizes: number[]): Pieces {
  for (const bytes of sizes) yield new Uint8Array(bytes)
}

test.each([
  ['a list', 'cannot read ', (place: S3Place) => place.list()],
  ['a short file to write', 'cannot write ', (place: S3Place) => place.write('short', pieces(1000))],
  [
    'a long file to write',
    'cannot write ',
    (place: S3Place) => place.write('long', pieces(8 * MIB, 8 * MIB, 8 * MIB)),
  ],
  ['a file to read', 'cannot read ', (place: S3Place) => Array.fromAsync(place.read('file'))],
])('%s fails when the store does not answer', async (_, beginning, work) => {
  way.silence()
  const failure = await failureOf(work(placeThatWaits(300)))
  expect(failure).toMatchObject({ name: 'BackupError' })
  expect(`${failure}`).toMatch(new RegExp(`^BackupError: ${beginning}s3://`))
  expect(`${failure}`).toEndWith(`: ${way.url} did not answer within 0.3 seconds`)
})

test('a file fails in the middle when the store falls silent, and can be read later', async () => {
  const place = placeThatWaits(5_000)
  await placeThatWaits(200_000).write('half', pieces(4 * MIB))
  way.drip(64 * 1024, 20)
  let bytes = 0
  const reading = (async () => {
    for await (const piece of place.read('half')) {
      bytes += piece.byteLength
      way.silence()
    }
  })()
  expect(`${await failureOf(reading)}`).toEndWith('did not answer within 5 seconds')
  expect(bytes).toBeGreaterThan(0)
  expect(bytes).toBeLessThan(4 * MIB)
  way.mend()
  const whole = await Array.fromAsync(placeThatWaits(200_000).read('half'))
  expect(whole.reduce((sum, piece) => sum + piece.byteLength, 0)).toBe(4 * MIB)
})
