// `npm run bench -- <name>`: installs what is missing and runs a benchmark, the comparison of two versions,
// the fault program, the simulation, or the model of a conversation.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ensureInstalledOrExit } from './bootstrap.mjs'
import { bunPath, root } from './installation.mjs'

await ensureInstalledOrExit()
const words = process.argv.slice(2)
const programs = {
  faults: 'bench/faults/main.ts',
  simulate: 'bench/simulation/main.ts',
  compare: 'bench/compare.ts',
  conversations: 'bench/conversations/main.ts',
}
const program = programs[words[0]] ?? 'bench/main.ts'
const { status } = spawnSync(bunPath, [join(root, program), ...words], { stdio: 'inherit' })
process.exitCode = status ?? 1
