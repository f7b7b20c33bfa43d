// Attacks the decoders for longer: `npx bun packages/mls/test/fuzz.ts COUNT [SEED]`.
import { fuzz } from './fuzz-run.ts'

const [count = 200_000, seed = Date.now() % 1_000_000_000] = process.argv.slice(2).map(Number)
console.log(`${count} inputs from seed ${seed}`)
const taken = await fuzz(seed, count)
console.log('taken as valid:', taken)
