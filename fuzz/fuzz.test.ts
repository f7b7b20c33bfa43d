// Half a minute of the fuzz program with a new seed, on one of the two engines. A failure names the seed.
import { expect, test } from 'bun:test'
import { engines } from '../packages/relay/test/engines.ts'
import { parts } from './parts.ts'
import { runParts } from './run.ts'

const SECONDS = 30
/** Some inputs of every part are made even on a busy machine. */
const LEAST_INPUTS = 5

const seed = Math.floor(Math.random() * 1e9)
const engine = engines[seed % engines.length]
const shares = parts.reduce((sum, { share }) => sum + share, 0)

for (const part of parts) {
  test(`random input to ${part.name} breaks nothing`, async () => {
    if (!engine) throw new Error('no engine')
    const [result] = await runParts([part], { seed, seconds: (SECONDS * part.share) / shares, engine })
    expect(result?.finding).toBeUndefined()
    expect(result?.inputs).toBeGreaterThan(LEAST_INPUTS)
  }, 300_000)
}
