// `npm run fuzz`: installs what is missing and attacks relays with random input.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ensureInstalledOrExit } from './bootstrap.mjs'
import { bunPath, root } from './installation.mjs'

await ensureInstalledOrExit()
const words = [join(root, 'fuzz/main.ts'), ...process.argv.slice(2)]
const { status } = spawnSync(bunPath, words, { stdio: 'inherit' })
process.exitCode = status ?? 1
