// `npm run bench -- <name>`: installs what is missing and runs a benchmark.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { bunPath, ensureInstalledOrExit, root } from './bootstrap.mjs'

await ensureInstalledOrExit()
const { status } = spawnSync(bunPath, [join(root, 'bench/main.ts'), ...process.argv.slice(2)], {
  stdio: 'inherit',
})
process.exitCode = status ?? 1
