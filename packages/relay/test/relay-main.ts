// The relay as a process of its own, for tests that kill it.
import { serve } from '../src/main.ts'

await serve(process.env, (line) => process.stdout.write(`${line}\n`))
process.exit(0)
