// `npm run check`: every check except the tests. With `npm run check -- --fix` Biome also repairs what it
// can.
import { ensureInstalledOrExit } from './bootstrap.mjs'
import { runChecks } from './checks.mjs'

const unknown = process.argv.slice(2).filter((word) => word !== '--fix')
if (unknown.length > 0) {
  process.stderr.write(`npm run check accepts only --fix, not ${unknown.join(' ')}\n`)
  process.exit(2)
}
await ensureInstalledOrExit()
const failed = await runChecks({ fix: process.argv.includes('--fix') })
process.exitCode = failed.length === 0 ? 0 : 1
