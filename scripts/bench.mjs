// `npm run bench -- <name>`: installs what is missing and runs a benchmark, or the program that breaks a relay.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { bunPath, ensureInstalledOrExit, root } from './bootstrap.mjs'

await ensureInstalledOrExit()
const words = process.argv.slice(2)
const program = words[0] === 'faults' ? 'bench/faults/main.ts' : 'bench/main.ts'
const { status } = spawnSync(bunPath, [join(root, program), ...words], { stdio: 'inherit' })
process.exitCode = status ?? 1
