// A short attack on every decoder, with a new seed each time. `fuzz.ts` attacks for longer.
import { expect, test } from 'bun:test'
import { fuzz } from './fuzz-run.ts'

test('no input breaks a decoder or keeps it busy', async () => {
  const taken = await fuzz(Math.floor(Math.random() * 1_000_000_000), 900)
  expect(taken).toBeObject()
})
